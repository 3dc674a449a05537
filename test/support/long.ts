/**
 * `npm run test:long` and CI try every model with every SDK. `npm test` has to be quick, and leaves
 * out repetitions.
 */
export const long = process.env['LONG_TESTS'] === 'true' || process.env['CI'] === 'true';
