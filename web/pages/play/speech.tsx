import { type ReactNode, useId, useState } from 'react';
import { useSession } from '../../api/data.ts';
import { ButtonAnchor } from '../../components/button.tsx';
import { ChoiceField } from '../../components/choice.tsx';
import { Field, TextInput, Textarea } from '../../components/field.tsx';
import { formatYuan } from '../../format/money.ts';
import { costOf } from '../../format/price.ts';
import { speechSample } from '../../samples/audio.ts';
import { playgroundWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { useAddress } from './blob-address.ts';
import { numberOf } from './chat-form.ts';
import { CostBefore } from './cost-before.tsx';
import { Asked, Bench } from './layout.tsx';
import type { Payer } from './payer.tsx';
import { useRun } from './run.ts';
import { SliderField } from './slider-field.tsx';

const formats = ['mp3', 'wav', 'opus', 'aac', 'flac'] as const;
/** Names that many vendors know; each has others, which can be typed. */
const voices = ['alloy', 'ash', 'coral', 'echo', 'fable', 'nova', 'onyx', 'sage', 'shimmer'];
const speeds = { least: 0.25, most: 4, step: 0.05, rest: 1 };

interface SpeechForm {
  readonly text: string;
  readonly voice: string;
  readonly format: string;
  readonly speed: string;
  readonly instructions: string;
}

const emptyForm: SpeechForm = { text: '', voice: 'alloy', format: '', speed: '', instructions: '' };

/** Reads a text aloud. */
export function Speech(payer: Payer): ReactNode {
  const { speech: words } = useWords(playgroundWords);
  const { base_url: baseUrl } = useSession();
  const [form, setForm] = useState<SpeechForm>(emptyForm);
  const [checked, setChecked] = useState(false);
  const { run, start, stop } = useRun(payer, (response) => response.blob());
  const change = (next: Partial<SpeechForm>) => setForm({ ...form, ...next });
  const speed = numberOf(form.speed, speeds);
  const body = {
    model: payer.model.id,
    input: form.text || words.placeholder,
    voice: form.voice || emptyForm.voice,
    ...(form.instructions !== '' && { instructions: form.instructions }),
    ...(form.format !== '' && { response_format: form.format }),
    ...(speed != null && { speed }),
  };
  const go = () => {
    setChecked(true);
    if (form.text.trim() === '' || form.voice.trim() === '' || speed === null) return;
    void start('play/speech', { body });
  };
  const cost = costOfText(payer, form.text);
  const name = `speech.${form.format || 'mp3'}`;
  return (
    <Bench
      sample={speechSample(baseUrl, body, name)}
      settings={
        <>
          {payer.choices}
          <SpeechSettings form={form} checked={checked} onChange={change} />
        </>
      }
      work={
        <Asked
          run={run}
          question={
            <Field
              label={words.text}
              error={checked && form.text.trim() === '' ? words.needText : undefined}
            >
              {(tied) => (
                <Textarea
                  {...tied}
                  dir="auto"
                  rows={5}
                  maxLength={4096}
                  placeholder={words.placeholder}
                  value={form.text}
                  onChange={(event) => change({ text: event.target.value })}
                />
              )}
            </Field>
          }
          cost={<Cost most={cost} />}
          certain={cost}
          words={{ empty: words.empty, running: words.speaking }}
          onRun={go}
          onStop={stop}
        >
          {(answer) => <Spoken sound={answer} name={name} />}
        </Asked>
      }
    />
  );
}

/** What so many characters cost, in nano-yuan, where the model is sold by them. */
function costOfText({ model }: Payer, text: string): bigint | undefined {
  const price = model.prices.find((each) => each.class === 'character');
  return price && costOf(price, [...text].length);
}

function Cost({ most }: { readonly most: bigint | undefined }): ReactNode {
  const words = useWords(playgroundWords);
  if (most === undefined) return words.byUse;
  return <CostBefore most={most} text={words.atMost(formatYuan(most, 'row'))} />;
}

interface SpeechSettingsProps {
  readonly form: SpeechForm;
  readonly checked: boolean;
  readonly onChange: (change: Partial<SpeechForm>) => void;
}

function SpeechSettings({ form, checked, onChange }: SpeechSettingsProps): ReactNode {
  const { speech: words, chat } = useWords(playgroundWords);
  const known = useId();
  return (
    <>
      <Field
        label={words.voice}
        help={words.voiceHelp}
        error={checked && form.voice.trim() === '' ? 'required' : undefined}
      >
        {(tied) => (
          <>
            <TextInput
              {...tied}
              list={known}
              value={form.voice}
              onChange={(event) => onChange({ voice: event.target.value })}
            />
            <datalist id={known}>
              {voices.map((voice) => (
                <option key={voice}>{voice}</option>
              ))}
            </datalist>
          </>
        )}
      </Field>
      <ChoiceField
        label={words.format}
        value={form.format}
        options={[['', chat.notSent], ...formats.map((format) => [format, format] as const)]}
        onChange={(format) => onChange({ format })}
      />
      <SliderField
        label={words.speed}
        range={speeds}
        value={form.speed}
        error={
          numberOf(form.speed, speeds) === null
            ? chat.between(String(speeds.least), String(speeds.most))
            : undefined
        }
        onChange={(speed) => onChange({ speed })}
      />
      <Field label={words.instructions}>
        {(tied) => (
          <Textarea
            {...tied}
            rows={2}
            placeholder={words.instructionsPlaceholder}
            value={form.instructions}
            onChange={(event) => onChange({ instructions: event.target.value })}
          />
        )}
      </Field>
    </>
  );
}

function Spoken({ sound, name }: { readonly sound: Blob; readonly name: string }): ReactNode {
  const { speech: words } = useWords(playgroundWords);
  const address = useAddress(sound);
  return (
    <div className="flex flex-wrap items-center gap-3">
      {/* oxlint-disable-next-line jsx-a11y/media-has-caption -- its text stands above */}
      <audio controls src={address} aria-label={words.sound} className="min-w-0 flex-1 basis-60" />
      <ButtonAnchor icon="download" href={address} download={name}>
        {words.download}
      </ButtonAnchor>
    </div>
  );
}
