/**
 * What tells a user from another of the same name: the end of the id, then the e-mail address if
 * there is one. `…a6sJr9 · wei@example.com`. The address alone tells nothing: users write it
 * themselves.
 */
export const userMark = (id: string, email?: string | null): string =>
  [`…${id.slice(-6)}`, ...(email ? [email] : [])].join(' · ');
