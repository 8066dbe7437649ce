let S = ../schema/package.dhall

let G = S.grain

let e = ./events.dhall

let by = G.fieldNames [ e.f.instance ]

in  { queue = S.Series::{ name = "queue_length", samples = G.samples e.queue, by, windows = "whole", reading = "latest", windowNs = 60000000000, unit = S.unit.count, doc = "Queue length" }
    , cpu = S.Series::{ name = "cpu_rate", samples = G.samples e.cpu, by, windows = "whole", reading = "rate", windowNs = 20000000000, unit = S.unit.percent, doc = "CPU" }
    }
