-- Takes unused sessions off their replicas; says how many. ARGV from 3: at most so many.
return sweep(tonumber(ARGV[3]))
