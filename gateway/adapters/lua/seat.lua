-- Counts a session in its tenant and, if it has one, gives it a place in its drill: both or neither. Answers what
-- refuses it, '' when nothing does.
-- KEYS: sessions, seats, walk-ins; ARGV: now, session, seat's time, most sessions, most seats, most walk-ins
local now, session, seat_us = clock(), ARGV[2], tonumber(ARGV[3])
local most_sessions = tonumber(ARGV[4])
local sessions, seats, walk_ins = KEYS[1], KEYS[2], KEYS[3]

if most_sessions >= 0 and not holds(sessions, session, now, seat_us) and held(sessions, now, seat_us) >= most_sessions then
  return 'tenant'
end
if seats ~= '' then
  local sits = place(seats, walk_ins, session, tonumber(ARGV[5]), tonumber(ARGV[6]), now, seat_us)
  if not sits then
    return 'seats'
  end
  take(sits, session, now, seat_us)
end
take(sessions, session, now, seat_us)
return ''
