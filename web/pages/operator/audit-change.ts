import type { AuditEntry, PriceClass } from '../../../src/console/contract.ts';
import { priceText } from '../../format/price.ts';
import type modelsEn from '../../words/en/models.ts';
import type booksEn from '../../words/en/operator-books.ts';
import { bookWords, modelsWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';

type Change = AuditEntry['changes'][number];
type Action = Pick<AuditEntry, 'action'>;
type LineWords = Pick<typeof modelsEn, 'classes' | 'variantLine' | 'aboveLine'>;
type AuditWords = Pick<typeof booksEn.audit, 'members' | 'costLine' | 'fields' | 'values'>;

/** Money of an entry with its sign and its name, and what changed of users and keys in words. */
export function useChangeInWords(entry: Action): (change: Change) => Change {
  const { audit } = useWords(bookWords);
  const lines = useWords(modelsWords);
  return (change) => changeInWords(entry, change, audit, lines);
}

/** `costs of gpt-4: input`: a line of the vendor's price of a model. */
const costLine = /^costs of (.+): (.+)$/;

/** Members whose values are a few words of ours. */
const named = ['role', 'state', 'status', 'provider'];

export function changeInWords(
  { action }: Action,
  { member, before, after }: Change,
  audit: AuditWords,
  words: LineWords,
): Change {
  const inYuan = (name: string) => ({ member: name, before: yuan(before), after: yuan(after) });
  const name = audit.members[member];
  if (name !== undefined) return inYuan(name);
  if (/^(?:user|key|identity)\./.test(action)) {
    const inWords = (value: string | null) =>
      value !== null && named.includes(member) ? (audit.values[value] ?? value) : value;
    return {
      member: audit.fields[member] ?? member,
      before: inWords(before),
      after: inWords(after),
    };
  }
  const [, model, cost = ''] = costLine.exec(member) ?? [];
  if (action.startsWith('channel.') && model !== undefined) {
    const line = lineName(cost, words);
    return line === undefined
      ? { member: audit.costLine(model, cost), before, after }
      : inYuan(audit.costLine(model, line));
  }
  const ofPrices = action === 'price.publish' || action.startsWith('model.');
  const line = ofPrices ? lineName(member, words) : undefined;
  return line === undefined ? { member, before, after } : inYuan(line);
}

/** The money that an entry moved, of a credit, a debit or a refund: `−¥6.50`. */
export function movedIn({ changes }: Pick<AuditEntry, 'changes'>): string | undefined {
  const amount = changes.find(({ member }) => member === 'amount')?.after ?? '';
  return isDecimal(amount) ? priceText(amount) : undefined;
}

const isDecimal = (text: string): boolean => /^-?\d+(?:\.\d+)?$/.test(text);
const yuan = (text: string | null): string | null =>
  text !== null && isDecimal(text) ? priceText(text) : text;

/** `input`, `output above 32000`, `second by 720p`: see `PriceDifference`. */
const priceLine = /^(\w+?)(?: above (\d+))?(?: by (.+))?$/;

/** The name of a line of a price; undefined: the member is no amount of a price. */
function lineName(
  member: string,
  { classes, variantLine, aboveLine }: LineWords,
): string | undefined {
  const isClass = (text: string): text is PriceClass => Object.hasOwn(classes, text);
  const [, of = '', above, variant] = priceLine.exec(member) ?? [];
  if (!isClass(of)) return undefined;
  const plain = classes[of];
  if (variant !== undefined) return variantLine(plain, variant);
  return above === undefined ? plain : aboveLine(plain, Number(above).toLocaleString('en'));
}
