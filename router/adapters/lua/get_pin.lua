-- Reads a pin and notes that it is in use. ARGV from 3: the session.
local pin = stored(ARGV[3])
if not pin then return false end
touch(pin)
return answer(pin)
