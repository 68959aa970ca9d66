-- Forgets a session. ARGV from 3: the session.
local pin = stored(ARGV[3])
if pin then
  drop(pin.replica, pin.member)
  redis.call('DEL', pin_key(ARGV[3]))
end
tell(ARGV[3], '', 0)
return 0
