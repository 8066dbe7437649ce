let count = 3

in  count.value
