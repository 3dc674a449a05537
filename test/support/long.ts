/**
 * `npm run test:long` asks every model of every SDK. So does CI. `npm test` is waited for, and
 * leaves out what only repeats.
 */
export const long = process.env['LONG_TESTS'] === 'true' || process.env['CI'] === 'true';
