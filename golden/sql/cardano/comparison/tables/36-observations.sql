CREATE TEMPORARY TABLE observations AS
/* The blocks of the main chain as their observers saw them: a row for each block and observer. */
SELECT
  chain.block,
  chain.block_no,
  roles.host
FROM chain
INNER JOIN roles
  ON roles.block = chain.block
WHERE
  roles.role = 'observer';
