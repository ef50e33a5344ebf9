ALTER TABLE `jobs` RENAME COLUMN `unclear_starts` TO `ambiguous_starts`;
