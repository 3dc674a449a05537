import type { ReactNode } from 'react';
import type { ModelDetail } from '../../../src/console/contract.ts';
import { ChoiceField } from '../../components/choice.tsx';
import { Field, TextInput } from '../../components/field.tsx';
import { imagePrice, priceText } from '../../format/price.ts';
import { playgroundWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { RadioCards } from './radio-cards.tsx';

export interface ImageForm {
  /** A size of the model; empty: its default. */
  readonly size: string;
  readonly quality: string;
  readonly count: number;
}

export const imageForm: ImageForm = { size: '', quality: '', count: 1 };

export const sizeOf = ({ size }: ImageForm): string | undefined =>
  size.trim() === '' ? undefined : size.trim();

export const sizeError = (form: ImageForm): boolean =>
  !/^(?:\d{1,5}x\d{1,5}|auto)?$/.test(form.size.trim());

const usualCountMax = 10;

interface ImageSettingsProps {
  readonly detail: ModelDetail;
  readonly form: ImageForm;
  readonly checked: boolean;
  readonly onChange: (change: Partial<ImageForm>) => void;
}

/** The settings that this model takes, with the price of each. */
export function ImageSettings({ detail, form, checked, onChange }: ImageSettingsProps): ReactNode {
  const { image: words } = useWords(playgroundWords);
  const {
    sizes = null,
    qualities = null,
    images_max: most = null,
    usual_size: usualSize = null,
    usual_quality: usual = null,
    price_names: names,
  } = detail.image ?? {};
  const quality = form.quality || (usual ?? undefined);
  const each = (size: string | undefined) => {
    const price = imagePrice(detail.prices, names, size ?? usualSize ?? undefined, quality);
    return price === undefined ? undefined : words.each(priceText(price.amount));
  };
  const counts = Array.from({ length: most ?? usualCountMax }, (_, index) => String(index + 1));
  return (
    <>
      <SizeChoice sizes={sizes} form={form} checked={checked} each={each} onChange={onChange} />
      {qualities !== null && (
        <ChoiceField
          label={words.quality}
          value={form.quality}
          options={[['', words.usualQuality], ...qualities.map((one) => [one, one] as const)]}
          onChange={(chosen) => onChange({ quality: chosen })}
        />
      )}
      <ChoiceField
        label={words.count}
        value={String(form.count)}
        options={counts.map((count) => [count, count] as const)}
        onChange={(count) => onChange({ count: Number(count) })}
      />
    </>
  );
}

interface SizeProps extends Pick<ImageSettingsProps, 'form' | 'checked' | 'onChange'> {
  /** null: any size. */
  readonly sizes: readonly string[] | null;
  /** The price of an image of that size. */
  readonly each: (size: string | undefined) => string | undefined;
}

function SizeChoice({ sizes, form, checked, each, onChange }: SizeProps): ReactNode {
  const { image: words } = useWords(playgroundWords);
  if (sizes === null)
    return (
      <Field
        label={words.ownSize}
        help={each(form.size)}
        error={checked && sizeError(form) ? words.needSize : undefined}
      >
        {(tied) => (
          <TextInput
            {...tied}
            placeholder={words.usualSize}
            value={form.size}
            onChange={(event) => onChange({ size: event.target.value.replace(/[×X*]/g, 'x') })}
          />
        )}
      </Field>
    );
  return (
    <RadioCards
      label={words.size}
      value={form.size}
      onChange={(size) => onChange({ size })}
      options={[
        { value: '', text: words.usualSize, detail: each(undefined) },
        ...sizes.map((size) => ({
          value: size,
          text: size.replace('x', ' × '),
          detail: each(size === 'auto' ? undefined : size),
        })),
      ]}
    />
  );
}
