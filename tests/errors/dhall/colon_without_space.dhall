let Metric = { id :Text, doc:Text }

in  1
