/** The header by which clients of messages say which version of that format they speak. */
export const messagesVersionHeader = 'anthropic-version';
