/** Why a written value is refused, by the code of the server. */
export default {
  /** English is the server's own sentence. */
  reasons: {} as Readonly<Record<string, (values: Readonly<Record<string, string>>) => string>>,
};
