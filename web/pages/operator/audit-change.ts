import type { AuditEntry, PriceClass } from '../../../src/console/contract.ts';
import { priceText } from '../../format/price.ts';
import { bookWords, modelsWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';

type Change = AuditEntry['changes'][number];

const isDecimal = (text: string): boolean => /^-?\d+(?:\.\d+)?$/.test(text);
const yuan = (text: string | null): string | null =>
  text !== null && isDecimal(text) ? priceText(text) : text;

/** `input`, `output above 32000`, `second by 720p`: see `PriceDifference`. */
const priceLine = /^(\w+?)(?: above (\d+))?(?: by (.+))?$/;

/** Money of an entry with its sign and its name; what else changed stays as it was written. */
export function useChangeInWords({
  action,
}: Pick<AuditEntry, 'action'>): (change: Change) => Change {
  const { members } = useWords(bookWords).audit;
  const { classes, variantLine, aboveLine } = useWords(modelsWords);
  const ofPrices = action === 'price.publish' || action.startsWith('model.');
  const isClass = (text: string): text is PriceClass => Object.hasOwn(classes, text);
  return ({ member, before, after }) => {
    const name = members[member];
    if (name !== undefined) return { member: name, before: yuan(before), after: yuan(after) };
    const [, of = '', above, variant] = priceLine.exec(member) ?? [];
    if (!ofPrices || !isClass(of)) return { member, before, after };
    const plain = classes[of];
    const line =
      variant !== undefined
        ? variantLine(plain, variant)
        : above !== undefined
          ? aboveLine(plain, Number(above).toLocaleString('en'))
          : plain;
    return { member: line, before: yuan(before), after: yuan(after) };
  };
}
