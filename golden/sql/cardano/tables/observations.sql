CREATE TEMPORARY TABLE observations AS
/* The observations of blocks of the main chain: a row per block and observer. */
SELECT
  chain.block,
  chain.block_no,
  roles.host
FROM chain
INNER JOIN roles
  ON roles.block = chain.block
WHERE
  roles.role = 'observer';
