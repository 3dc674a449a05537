import { type ReactNode, useState } from 'react';
import type { ModelDetail } from '../../../src/console/contract.ts';
import { open } from '../../api/client.ts';
import { useData, useSession } from '../../api/data.ts';
import { MaybeDisabled } from '../../components/maybe-disabled.tsx';
import { Field, Textarea } from '../../components/field.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Panel } from '../../components/page.tsx';
import { Segments } from '../../components/segments.tsx';
import { formatYuan } from '../../format/money.ts';
import { costOf, imagePrice } from '../../format/price.ts';
import { editSample, imageSample } from '../../samples/image.ts';
import { playgroundWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { modelAddress } from '../model-parts.tsx';
import { type Charged, ChargeLine, Refused, chargeOf } from './charge.tsx';
import { fileOf } from './code-body.ts';
import { CostBefore, usePoor } from './cost-before.tsx';
import { type ImageForm, ImageSettings, imageForm, sizeError, sizeOf } from './image-settings.tsx';
import { Gallery, type Made } from './gallery.tsx';
import { Bench } from './layout.tsx';
import { type Mask, MaskEditor } from './mask.tsx';
import type { Payer } from './payer.tsx';
import { ImagePicker } from './image-picker.tsx';
import type { SentFile } from './turns.ts';

/** Generates images from a text, or edits images. */
export function Images(payer: Payer): ReactNode {
  const { id, prices } = payer.model;
  const detail = useData<ModelDetail>(modelAddress(id));
  // The prices of `detail` are for the group of the last used key, not of the paying key.
  return (
    <Loaded query={detail}>
      {(model) => <Easel key={model.id} {...payer} detail={{ ...model, prices }} />}
    </Loaded>
  );
}

interface Run {
  readonly state: 'none' | 'running' | 'done' | 'failed';
  readonly requested: number;
  readonly made: readonly Made[];
  readonly error?: unknown;
  readonly charge: Charged;
}

const nothing: Run = { state: 'none', requested: 0, made: [], charge: undefined };

function Easel({
  keyId,
  model,
  choices,
  detail,
}: Payer & { readonly detail: ModelDetail }): ReactNode {
  const { image: words } = useWords(playgroundWords);
  const { base_url: baseUrl } = useSession();
  const [form, setForm] = useState<ImageForm>(imageForm);
  const [imagePrompt, setImagePrompt] = useState<ImagePrompt>(noImagePrompt);
  const [checked, setChecked] = useState(false);
  const { run, start } = useRun(keyId);
  const editable = detail.modalities?.in.includes('image') ?? false;
  const { prompt, input, mask } = imagePrompt;
  const editing = imagePrompt.mode === 'edit' && editable;
  const poor = usePoor(mostOf(detail, form));
  const body = { model: model.id, prompt: prompt || words.promptPlaceholder, ...bodyOf(form) };
  const go = () => {
    setChecked(true);
    if (
      run.state === 'running' ||
      poor !== undefined ||
      prompt.trim() === '' ||
      sizeError(form) ||
      (editing && input === undefined)
    )
      return;
    void start(body, form.count, editing ? input : undefined, mask);
  };
  return (
    <Bench
      sample={sampleOf(baseUrl, body, editing ? input : undefined, mask)}
      settings={
        <>
          {choices}
          <ImageSettings
            detail={detail}
            form={form}
            checked={checked}
            onChange={(change) => setForm({ ...form, ...change })}
          />
        </>
      }
      work={
        <div className="flex flex-col gap-4">
          <Panel>
            <ImagePromptFields
              imagePrompt={imagePrompt}
              editable={editable}
              checked={checked}
              busy={run.state === 'running'}
              cost={<Cost price={priceOf(detail, form)} count={form.count} />}
              poor={poor}
              onChange={(change) => setImagePrompt({ ...imagePrompt, ...change })}
              onGo={go}
            />
          </Panel>
          <Panel>
            <Results
              run={run}
              onUse={(image) =>
                setImagePrompt({ ...imagePrompt, mode: 'edit', input: image, mask: undefined })
              }
            />
          </Panel>
        </div>
      }
    />
  );
}

/** The request as code. */
const sampleOf = (
  baseUrl: string,
  body: Parameters<typeof imageSample>[1],
  input: SentFile | undefined,
  mask: Mask | undefined,
) =>
  input === undefined
    ? imageSample(baseUrl, body)
    : editSample(baseUrl, body, fileOf(input), mask && fileOf(mask.file));

/** One request at a time; the last results stay until new ones come. */
function useRun(keyId: string) {
  const [run, setRun] = useState<Run>(nothing);
  const start = async (
    body: object,
    count: number,
    input: SentFile | undefined,
    mask: Mask | undefined,
  ) => {
    setRun({ ...nothing, state: 'running', requested: count, made: run.made });
    try {
      const images = input && {
        images: [{ image_url: input.url }],
        ...(mask && { mask: { image_url: await mask.png() } }),
      };
      const sent = { body: { ...body, ...images }, headers: { 'x-paying-key': keyId } };
      const response = await open('POST', input ? 'play/images/edits' : 'play/images', sent);
      // parsing: the API's own response
      const { data }: { data: readonly Made[] } = await response.json();
      const done: Run = { state: 'done', requested: count, made: data, charge: 'pending' };
      setRun(done);
      setRun({ ...done, charge: await chargeOf(response.headers.get('x-request-id') ?? '') });
    } catch (error) {
      setRun({ ...nothing, state: 'failed', error });
    }
  };
  return { run, start };
}

/** The prompt, and the image that it edits. */
interface ImagePrompt {
  readonly mode: 'generate' | 'edit';
  readonly prompt: string;
  readonly input: SentFile | undefined;
  readonly mask: Mask | undefined;
}

const noImagePrompt: ImagePrompt = {
  mode: 'generate',
  prompt: '',
  input: undefined,
  mask: undefined,
};

interface ImagePromptFieldsProps {
  readonly imagePrompt: ImagePrompt;
  readonly editable: boolean;
  readonly checked: boolean;
  readonly busy: boolean;
  readonly cost: ReactNode;
  /** The balance does not pay for it: why, in words. */
  readonly poor: string | undefined;
  readonly onChange: (change: Partial<ImagePrompt>) => void;
  readonly onGo: () => void;
}

function ImagePromptFields({
  imagePrompt,
  editable,
  checked,
  busy,
  cost,
  poor,
  onChange,
  onGo,
}: ImagePromptFieldsProps): ReactNode {
  const { image: words, ...shared } = useWords(playgroundWords);
  const { mode, prompt, input, mask } = imagePrompt;
  const impossible = mode === 'edit' && !editable;
  return (
    <div className="flex flex-col gap-3">
      <div>
        <Segments
          label={words.mode}
          value={mode}
          onChange={(next) => onChange({ mode: next })}
          options={[
            ['generate', words.generate],
            ['edit', words.edit],
          ]}
        />
      </div>
      {impossible && <p className="text-table text-warn">{words.notEditable}</p>}
      {mode === 'edit' && editable && (
        <Given
          input={input}
          mask={mask}
          checked={checked}
          onInput={(image) => onChange({ input: image, mask: undefined })}
          onMask={(next) => onChange({ mask: next })}
        />
      )}
      <Prompt
        text={prompt}
        checked={checked}
        placeholder={mode === 'edit' ? words.editPlaceholder : words.promptPlaceholder}
        onChange={(text) => onChange({ prompt: text })}
        onSend={onGo}
      />
      <div className="flex flex-wrap items-center justify-end gap-2">
        <span className="text-caption text-muted">{cost}</span>
        <MaybeDisabled
          look="primary"
          icon="play"
          busy={busy}
          disabledFor={impossible ? words.notEditable : poor}
          onClick={onGo}
        >
          {shared.run}
        </MaybeDisabled>
      </div>
    </div>
  );
}

const bodyOf = (form: ImageForm) => {
  const size = sizeOf(form);
  return {
    ...(form.count > 1 && { n: form.count }),
    ...(size !== undefined && { size }),
    ...(form.quality !== '' && { quality: form.quality }),
  };
};

/** The price of one image, where the model is sold by them. */
function priceOf({ prices, image }: ModelDetail, form: ImageForm) {
  const { price_names: names, usual_size: size, usual_quality: quality } = image ?? {};
  return imagePrice(
    prices,
    names,
    sizeOf(form) ?? size ?? undefined,
    form.quality || (quality ?? undefined),
  );
}

function mostOf(detail: ModelDetail, form: ImageForm): bigint | undefined {
  const price = priceOf(detail, form);
  return price && costOf(price, form.count);
}

interface CostProps {
  readonly price: ReturnType<typeof priceOf>;
  readonly count: number;
}

function Cost({ price, count }: CostProps): ReactNode {
  const words = useWords(playgroundWords);
  if (price === undefined) return words.byTokens;
  const most = costOf(price, count);
  return (
    <CostBefore
      most={most}
      text={words.atMost(formatYuan(most, 'spend'))}
      covered={(available) => {
        const some = available / costOf(price, 1);
        return some === 0n ? undefined : words.covered.images(String(some));
      }}
    />
  );
}

interface PromptProps {
  readonly text: string;
  readonly checked: boolean;
  readonly placeholder: string;
  readonly onChange: (text: string) => void;
  readonly onSend: () => void;
}

function Prompt({ text, checked, placeholder, onChange, onSend }: PromptProps): ReactNode {
  const { image: words } = useWords(playgroundWords);
  return (
    <Field
      label={words.prompt}
      error={checked && text.trim() === '' ? words.needPrompt : undefined}
    >
      {(tied) => (
        <Textarea
          {...tied}
          rows={3}
          placeholder={placeholder}
          value={text}
          onChange={(event) => onChange(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onSend();
          }}
        />
      )}
    </Field>
  );
}

interface GivenProps {
  readonly input: SentFile | undefined;
  readonly mask: Mask | undefined;
  readonly checked: boolean;
  readonly onInput: (image: SentFile | undefined) => void;
  readonly onMask: (mask: Mask | undefined) => void;
}

function Given({ input, mask, checked, onInput, onMask }: GivenProps): ReactNode {
  const { image: words } = useWords(playgroundWords);
  return (
    <div className="flex flex-col gap-2">
      <ImagePicker label={words.input} choose={words.choose} image={input} onChange={onInput} />
      {checked && input === undefined && (
        <p role="alert" className="text-caption text-bad">
          {words.noInput}
        </p>
      )}
      {input !== undefined && (
        <MaskEditor key={input.url} input={input} mask={mask} onChange={onMask} />
      )}
    </div>
  );
}

function Results({
  run,
  onUse,
}: {
  readonly run: Run;
  readonly onUse: (image: SentFile) => void;
}): ReactNode {
  const { image: words } = useWords(playgroundWords);
  const { state, made, requested } = run;
  return (
    <div className="flex flex-col gap-3" aria-busy={state === 'running' || undefined}>
      {state === 'running' && <p role="status">{words.making(requested)}</p>}
      {state === 'failed' && <Refused error={run.error} />}
      {state === 'none' && <p className="py-10 text-center text-muted">{words.empty}</p>}
      <Gallery made={made} waiting={state === 'running' ? requested : 0} onUse={onUse} />
      {state === 'done' && (
        <>
          {made.length < requested && (
            <p className="text-table text-warn">{words.fewer(requested, made.length)}</p>
          )}
          <ChargeLine charge={run.charge} />
          <p className="text-caption text-muted">{words.kept}</p>
        </>
      )}
    </div>
  );
}
