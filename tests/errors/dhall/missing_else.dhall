let wide = True

in  if wide then 1
