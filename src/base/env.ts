/** Environment variables. An empty one counts as absent: compose files cannot leave one out. */
export type Env = Readonly<Record<string, string | undefined>>;
