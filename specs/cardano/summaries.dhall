-- How the average of a machine metric is taken over the hosts.
let S = ../schema/package.dhall

in  { published =
        S.Summary::{
        , name = "published"
        , lowest = 29
        , deviation = "greatest"
        , reciprocalPoints = True
        , doc =
            "As in the published reports: only the 29 lowest means count, the standard deviation is that of the host with the greatest, and charts plot 1 / (1 / median). Wrong for clusters of more than 29 hosts; kept so that published numbers can be made again"
        }
    , meanOfHosts =
        S.Summary::{ name = "mean-of-hosts", doc = "The mean over all hosts of their means" }
    }
