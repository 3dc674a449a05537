/**
 * The newest version of Anthropic's format: no sampling parameters, documents of users only
 * (platform.claude.com/docs/en/api/versioning, 2026-11).
 */
export const newestVersion = '2026-10-21';
export const versions = [newestVersion, '2023-06-01', '2023-01-01'];
