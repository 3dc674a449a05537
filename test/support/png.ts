/** A picture of three by two points. */
export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGNgYPgPRgwQCgAd7gP9N/RE0AAAAABJRU5ErkJggg==',
  'base64',
);
