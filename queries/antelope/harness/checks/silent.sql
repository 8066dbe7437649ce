-- Nodes whose logs hold no block that they received or produced.
SELECT host, (SELECT count(*) FROM nodes) AS nodes
FROM nodes
WHERE received + produced = 0
ORDER BY host
