import { type ReactNode, useState } from 'react';
import { useSession } from '../../api/data.ts';
import { CopyButton } from '../../components/copy.tsx';
import { ChoiceField } from '../../components/choice.tsx';
import { Field, TextInput } from '../../components/field.tsx';
import { formatYuan } from '../../format/money.ts';
import { costOf } from '../../format/price.ts';
import { transcriptionSample } from '../../samples/audio.ts';
import { FileData } from '../../samples/written.ts';
import { playgroundWords, sharedWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { CostBefore } from './cost-before.tsx';
import { Asked, Bench } from './layout.tsx';
import type { Payer } from './payer.tsx';
import type { Recording } from './recorder.ts';
import { RecordingPicker } from './recording-picker.tsx';
import { useRun } from './run.ts';

/** Besides the plain text. */
const formats = ['srt', 'vtt', 'verbose_json'] as const;

interface TranscriptionForm {
  readonly format: string;
  readonly language: string;
  readonly prompt: string;
}

const emptyForm: TranscriptionForm = { format: '', language: '', prompt: '' };

/** Writes down what is said in a recording. */
export function Transcription(payer: Payer): ReactNode {
  const { transcription: words } = useWords(playgroundWords);
  const { base_url: baseUrl } = useSession();
  const [form, setForm] = useState<TranscriptionForm>(emptyForm);
  const [recording, setRecording] = useState<Recording>();
  const [checked, setChecked] = useState(false);
  const { run, start, stop } = useRun(payer, textOf);
  const body = {
    model: payer.model.id,
    ...(form.format !== '' && { response_format: form.format }),
    ...(form.language.trim() !== '' && { language: form.language.trim() }),
    ...(form.prompt !== '' && { prompt: form.prompt }),
  };
  const go = () => {
    setChecked(true);
    if (recording === undefined) return;
    void start('play/transcriptions', { form: formOf(recording.file, body) });
  };
  const { name = 'recording.mp3', type = 'audio/mpeg' } = recording?.file ?? {};
  return (
    <Bench
      sample={transcriptionSample(baseUrl, body, new FileData(name, type))}
      settings={
        <>
          {payer.choices}
          <Settings form={form} onChange={(change) => setForm({ ...form, ...change })} />
        </>
      }
      work={
        <Asked
          run={run}
          question={
            <>
              <RecordingPicker recording={recording} onChange={setRecording} />
              {checked && recording === undefined && (
                <p role="alert" className="text-caption text-bad">
                  {words.needRecording}
                </p>
              )}
            </>
          }
          cost={<Cost payer={payer} seconds={recording?.seconds} />}
          words={{ empty: words.empty, running: words.listening }}
          onRun={go}
          onStop={stop}
        >
          {(answer) => <Heard text={answer} />}
        </Asked>
      }
    />
  );
}

function formOf(file: File, body: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) form.set(name, value);
  form.set('file', file);
  return form;
}

/** The text alone of a plain answer; others as they came. */
async function textOf(response: Response): Promise<string> {
  const text = await response.text();
  if (!response.headers.get('content-type')?.includes('json')) return text;
  const answer: { text?: string; segments?: unknown } = JSON.parse(text); // parsing: the API's own
  return answer.segments === undefined && answer.text !== undefined
    ? answer.text
    : JSON.stringify(answer, undefined, 2);
}

interface CostProps {
  readonly payer: Payer;
  readonly seconds: number | undefined;
}

/** What a recording of this length costs, where the model is sold by the second. */
function Cost({ payer: { model }, seconds }: CostProps): ReactNode {
  const words = useWords(playgroundWords);
  const price = model.prices.find((each) => each.class === 'second');
  if (price === undefined || seconds === undefined) return words.byUse;
  const cost = costOf(price, seconds);
  return <CostBefore most={cost} text={words.aboutAmount(formatYuan(cost, 'row'))} />;
}

interface SettingsProps {
  readonly form: TranscriptionForm;
  readonly onChange: (change: Partial<TranscriptionForm>) => void;
}

function Settings({ form, onChange }: SettingsProps): ReactNode {
  const { transcription: words, chat } = useWords(playgroundWords);
  return (
    <>
      <Field label={words.language} help={words.languageHelp}>
        {(tied) => (
          <TextInput
            {...tied}
            placeholder={chat.notSent}
            value={form.language}
            onChange={(event) => onChange({ language: event.target.value })}
          />
        )}
      </Field>
      <ChoiceField
        label={words.format}
        value={form.format}
        options={[['', words.plain], ...formats.map((format) => [format, format] as const)]}
        onChange={(format) => onChange({ format })}
      />
      <Field label={words.prompt} help={words.promptHelp}>
        {(tied) => (
          <TextInput
            {...tied}
            placeholder={chat.notSent}
            value={form.prompt}
            onChange={(event) => onChange({ prompt: event.target.value })}
          />
        )}
      </Field>
    </>
  );
}

function Heard({ text }: { readonly text: string }): ReactNode {
  const { transcription: words } = useWords(playgroundWords);
  const { actions } = useWords(sharedWords);
  return (
    <>
      <p
        dir="auto"
        role="region"
        aria-label={words.text}
        tabIndex={0}
        className="max-h-[60dvh] overflow-y-auto break-words whitespace-pre-wrap"
      >
        {text}
      </p>
      <div>
        <CopyButton text={text} size="small">
          {actions.copy}
        </CopyButton>
      </div>
    </>
  );
}
