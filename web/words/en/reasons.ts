/** Why a written value is refused, by the code of the server. */
export default {
  /** English is the server's own sentence, unless that speaks of the configuration file. */
  reasons: {
    model_of_no_list: ({ written, meant }) =>
      `there is no model '${written}': it has no price and is not in the bundled list${meant === undefined ? '' : `, did you mean '${meant}'?`}`,
    password_in_address: () =>
      'must not have a name and a password in it: they would be shown, and sent nowhere. Enter the key instead',
    two_key_members: () => 'stands beside a single key: enter all keys here',
  } as Readonly<Record<string, (values: Readonly<Record<string, string>>) => string>>,
};
