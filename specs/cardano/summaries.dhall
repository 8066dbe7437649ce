-- How the average of a machine metric over hosts is computed.
let S = ../schema/package.dhall

in  { published =
        S.Summary::{
        , name = "published"
        , lowest = 29
        , deviation = "greatest"
        , reciprocalPoints = True
        , doc =
            "As in the published reports: only the 29 lowest means count, the standard deviation is the greatest of all hosts, and charts plot 1 / (1 / median). Wrong for clusters of more than 29 hosts; needed to reproduce published numbers"
        }
    , meanOfHosts =
        S.Summary::{ name = "mean-of-hosts", doc = "Mean over all hosts of their means" }
    }
