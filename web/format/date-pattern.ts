/** What a date looks like in a text: a day, with its clock where it has one. */
export const datePattern = String.raw`\d{4}-\d{2}-\d{2}(?: \d{2}:\d{2}(?::\d{2})?)?`;
