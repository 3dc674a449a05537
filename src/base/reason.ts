/** Why a written value is refused, to be told in any language. */
export interface Reason {
  readonly code: ReasonCode;
  /** What the sentence names: what was written, a limit, what is known. */
  readonly values: ReasonValues;
  /** In English: the end of a sentence that begins with the member's path. */
  readonly message: string;
}

export type ReasonValues = Readonly<Record<string, string>>;
export type ReasonCode = keyof typeof sentences;

/**
 * `written`: the text that was written; `shape` instead where it is `list` or `members`. `meant`:
 * the name that was probably meant. `choices` of a price: its rows of members, such as
 * `input output|request`.
 */
export const sentences = {
  required: () => 'is required',
  empty: () => 'must not be empty',
  not_text: (of) => `must be text, not ${given(of)}`,
  not_a_list: (of) => `must be a list, not ${given(of)}`,
  not_members: (of) => `must be a group of members, not ${given(of)}`,
  not_a_decimal: (of) => `must be a decimal number, not ${given(of)}`,
  not_a_boolean: (of) => `must be true or false, not ${given(of)}`,
  not_a_time: (of) => `must be a time such as 09:30, not ${given(of)}`,
  not_a_factor: (of) => `must be a number like 2, 1.1 or 3/2, not ${given(of)}`,
  not_a_size: (of) => `must be a size such as 1024x1024, or auto, not ${given(of)}`,
  not_a_count: (of) => `must be a whole number of ${of['least']} or more, not ${given(of)}`,
  not_an_address: (of) => `must be an address such as https://example.com, not ${given(of)}`,
  not_a_zone: (of) => `must be a time zone such as Asia/Shanghai, not ${given(of)}`,
  not_a_date: (of) => `must be a date such as 2027-01-31, not ${given(of)}`,
  not_one_of: (of) => `must be one of ${of['choices']}, not ${given(of)}${meant(of)}`,
  not_a_name: (of) => `must be one line of 1 to ${of['most']} characters`,
  not_one_line: () => 'must be one line',
  not_a_weekday: () => 'must be a day from 1, Monday, to 7, Sunday',
  not_a_term_name: () => 'must be a name of letters, digits, dots and dashes',
  no_id_column: (of) => `the first column must be id, not ${given(of)}`,
  unknown_column: (of) => `there is no column ${given(of)}${meant(of)}`,
  not_a_price_list: () => 'must be a list of models with prices, or have the member models',
  negative: (of) => `must not be negative, but is ${of['written']}`,
  too_large: (of) => `is too large: ${of['written']}`,
  too_many_decimals: (of) => `must have at most ${of['places']} decimals, but is ${of['written']}`,
  divided_by_zero: (of) => `must not be divided by 0, but is ${of['written']}`,
  too_many_values: (of) => `has more than ${of['most']} values`,
  unknown_member: (of) => `unknown member ${given(of)}${meant(of)}`,
  unknown_price_member: (of) => `has ${given(of)}, which is no member of a price`,
  unknown_model: (of) => `there is no model ${given(of)} to price${meant(of)}`,
  unknown_calendar: (of) => `there is no calendar ${given(of)}${meant(of)}`,
  unknown_mode: (of) =>
    `there is no tier or speed ${given(of)}${meant(of) || `: there are ${of['choices']}`}`,
  duplicate: (of) => `${given(of)} is already in line ${of['line']}`,
  price_lacks: ({ kind, choices = '' }) => {
    const rows = choices.split('|').map((row) => row.replaceAll(' ', ' and '));
    return `a ${kind} model needs a price for ${rows.join(', or ')} (0 where it is free)`;
  },
  tier_without_bound: () => 'needs above_input_tokens, above_output_tokens, or both',
  tier_out_of_order: (of) => `must be more than in the tier before it (${of['least']})`,
  window_differs: (of) => `must be the same in all windows that are called ${given(of)}`,
  window_ends_before: () =>
    'must be later than from; a window that ends on the next day says wraps: true',
  window_wraps: () => 'is for a window whose to is not later than its from',
  unknown_vendor: (of) =>
    `there is no vendor ${given(of)}${meant(of) || ` (there are ${of['choices']})`}`,
  unknown_group: (of) => `there is no group ${given(of)}${meant(of)}`,
  model_of_no_list: (of) =>
    `there is no model ${given(of)}, neither in this file nor in the bundled list${meant(of)}`,
  not_in_group: (of) => `group ${of['group']} does not sell ${given(of)}${meant(of)}`,
  twice_in_channel: (of) => `${given(of)} is already in this channel`,
  not_in_channel: () => 'is not a model of this channel',
  models_needed: (of) => `is required: the bundled list has no models of ${of['vendor']}`,
  address_needed: (of) =>
    `is required: ${of['vendor']} has no address that is the same for everyone`,
  not_a_base_address: (of) =>
    `must be an address such as https://host/v1, without ? and #, not ${given(of)}`,
  password_in_address: () =>
    'must not have a name and a password in it: they would be shown, and sent nowhere. Write api_key',
  two_key_members: () => 'stands beside api_key: write all keys here',
  key_of_another_host: () => 'must be written again: the one that is kept is for another host',
  no_such_key: (of) => `it has no key ${of['number']}`,
  refers_to_itself: () => 'refers to itself',
  nameless: () => 'a member needs a name',
  repeated: (of) => `${of['parser']}`,
  not_yaml: (of) => `${of['parser']}`,
} satisfies Readonly<Record<string, (values: ReasonValues) => string>>;

export function reason(code: ReasonCode, values: ReasonValues = {}): Reason {
  return { code, values, message: sentences[code](values) };
}

function given({ written, shape }: ReasonValues): string {
  if (written !== undefined) return `'${written}'`;
  return shape === 'list' ? 'a list' : 'a group of members';
}

/** `, did you mean 'x'?`, or nothing. */
export const meant = ({ meant: name }: ReasonValues): string =>
  name === undefined ? '' : `, did you mean '${name}'?`;
