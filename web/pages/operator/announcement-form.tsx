import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type {
  AnnouncementBody,
  List,
  OperatorAnnouncement,
  OperatorGroup,
} from '../../../src/console/contract.ts';
import { newIdempotencyKey, send } from '../../api/client.ts';
import { queryClient, refresh, useData } from '../../api/data.ts';
import { DayInput } from '../../components/day-input.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ChoiceField } from '../../components/choice.tsx';
import { Field, Textarea, TextInput } from '../../components/field.tsx';
import { Form, type Mistakes, useOpened, useVersion } from '../../components/form.tsx';
import { useZone } from '../../components/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { clockOf, instantOf, isClock } from '../../format/day.ts';
import { Announcement } from '../../shell/announcement.tsx';
import { bookWords, sharedWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { languages } from '../../words/language.ts';

export const announcementAddress = (id: string): string =>
  `operator/announcements/${encodeURIComponent(id)}`;

/** Fetches announcements again wherever users read them: the bell, the overview. */
export async function refreshAnnouncements(): Promise<void> {
  await refresh('operator/announcements');
  await queryClient.invalidateQueries({ queryKey: ['announcements'] });
}

interface Text {
  readonly titleZh: string;
  readonly titleEn: string;
  readonly textZh: string;
  readonly textEn: string;
  readonly level: OperatorAnnouncement['level'];
  readonly group: string;
  readonly from: string;
  readonly to: string;
}

interface FormProps {
  /** undefined: a new one. */
  readonly announcement: OperatorAnnouncement | undefined;
  readonly onClose: () => void;
}

export function AnnouncementForm({ announcement: shown, onClose }: FormProps): ReactNode {
  const announcement = useOpened(shown);
  const { version, onConflict } = useVersion(announcement?.version ?? 0);
  const { announcements: words } = useWords(bookWords);
  const { actions } = useWords(sharedWords);
  const toast = useToast();
  const zone = useZone();
  const [text, setText] = useState(() => textOf(announcement, zone));
  const [idempotencyKey] = useState(newIdempotencyKey);
  const wrong = mistakes(text);
  const save = useMutation({
    mutationFn: (body: AnnouncementBody) =>
      announcement === undefined
        ? send('POST', 'operator/announcements', { body, idempotencyKey })
        : send('PATCH', announcementAddress(announcement.id), { body, ifMatch: version }),
    onError: onConflict,
    onSuccess: async () => {
      toast({ tone: 'done', text: announcement === undefined ? words.published : actions.saved });
      onClose();
      await refreshAnnouncements();
    },
  });
  return (
    <Dialog
      onClose={onClose}
      title={announcement === undefined ? words.create : words.editTitle}
      className="sm:max-w-[720px]!"
    >
      <Form
        mistakes={wrong}
        saving={save}
        {...(isRead(text) && { mine: bodyOf(text, zone) })}
        submit={announcement === undefined ? words.publish : actions.save}
        onSubmit={() => save.mutate(bodyOf(text, zone))}
        onCancel={onClose}
      >
        {(errors) => (
          <>
            <Fields
              text={text}
              onChange={(change) => setText((old) => ({ ...old, ...change }))}
              errors={errors}
            />
            <Preview text={text} />
          </>
        )}
      </Form>
    </Dialog>
  );
}

/** The texts as the server calls them. */
const members = {
  titleZh: 'title.zh',
  titleEn: 'title.en',
  textZh: 'text.zh',
  textEn: 'text.en',
} as const;

interface FieldsProps {
  readonly text: Text;
  readonly onChange: (change: Partial<Text>) => void;
  readonly errors: Mistakes;
}

function Fields(props: FieldsProps): ReactNode {
  const { text, onChange, errors } = props;
  const { announcements: words } = useWords(bookWords);
  return (
    <>
      <p className="text-table text-muted">{words.bothLanguages}</p>
      <div className="grid gap-4 sm:grid-cols-2">
        {(['titleZh', 'titleEn'] as const).map((name) => (
          <Field key={name} label={words[name]} error={errors[name] ?? errors[members[name]]}>
            {(tied) => (
              <TextInput
                {...tied}
                lang={name.endsWith('Zh') ? 'zh-CN' : 'en'}
                maxLength={200}
                value={text[name]}
                onChange={({ target }) => onChange({ [name]: target.value })}
              />
            )}
          </Field>
        ))}
        {(['textZh', 'textEn'] as const).map((name) => (
          <Field key={name} label={words[name]} error={errors[name] ?? errors[members[name]]}>
            {(tied) => (
              <Textarea
                {...tied}
                lang={name.endsWith('Zh') ? 'zh-CN' : 'en'}
                maxLength={5000}
                value={text[name]}
                onChange={({ target }) => onChange({ [name]: target.value })}
              />
            )}
          </Field>
        ))}
      </div>
      <Audience {...props} />
    </>
  );
}

function Audience({ text, onChange, errors }: FieldsProps): ReactNode {
  const { announcements: words } = useWords(bookWords);
  const zone = useZone();
  const groups = useData<List<OperatorGroup>>('operator/groups').data?.items ?? [];
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <ChoiceField
        label={words.level}
        value={text.level}
        options={levels.map((level) => [level, words.levels[level]] as const)}
        onChange={(level) => onChange({ level })}
      />
      <ChoiceField
        label={words.group}
        error={errors['group']}
        value={text.group}
        options={[
          ['', words.everybody],
          ...groups.map(({ name }) => [name, words.groupUsers(name)] as const),
        ]}
        onChange={(group) => onChange({ group })}
      />
      {(['from', 'to'] as const).map((name) => (
        <Field key={name} label={words[name]} help={zone} error={errors[name]}>
          {(tied) => (
            <DayInput
              {...tied}
              withTime
              value={text[name]}
              onChange={(clock) => onChange({ [name]: clock })}
            />
          )}
        </Field>
      ))}
    </div>
  );
}

const levels = ['info', 'warn', 'bad'] as const;

/** The announcement as users will read it, in both languages. */
function Preview({ text }: { readonly text: Text }): ReactNode {
  const { announcements: words } = useWords(bookWords);
  const item = {
    level: text.level,
    title: { zh: text.titleZh || '…', en: text.titleEn || '…' },
    text: { zh: text.textZh || '…', en: text.textEn || '…' },
  };
  return (
    <section aria-label={words.preview}>
      <h3 className="mb-2 text-table font-medium">{words.preview}</h3>
      <div className="grid gap-4 sm:grid-cols-2">
        {languages.map((language) => (
          <div key={language} lang={language === 'zh' ? 'zh-CN' : language}>
            <Announcement item={item} language={language} />
          </div>
        ))}
      </div>
    </section>
  );
}

/** Whether the times are such, or none. */
const isRead = ({ from, to }: Pick<Text, 'from' | 'to'>): boolean =>
  [from, to].every((clock) => clock === '' || isClock(clock));

function mistakes(text: Text): Readonly<Record<string, string>> {
  const needed = (['titleZh', 'titleEn', 'textZh', 'textEn'] as const).filter(
    (name) => text[name].trim() === '',
  );
  const unread = (['from', 'to'] as const).filter((name) => !isRead({ from: text[name], to: '' }));
  const reversed = text.to !== '' && text.from !== '' && text.to <= text.from;
  return {
    ...Object.fromEntries(needed.map((name) => [name, 'required'])),
    ...(reversed && { to: 'before_from' }),
    ...Object.fromEntries(unread.map((name) => [name, 'not_a_clock'])),
  };
}

function textOf(announcement: OperatorAnnouncement | undefined, zone: string): Text {
  if (announcement === undefined)
    return {
      titleZh: '',
      titleEn: '',
      textZh: '',
      textEn: '',
      level: 'info',
      group: '',
      from: '',
      to: '',
    };
  const { title, text, level, group, from, to } = announcement;
  return {
    titleZh: title.zh,
    titleEn: title.en,
    textZh: text.zh,
    textEn: text.en,
    level,
    group: group ?? '',
    from: clockOf(from, zone),
    to: to === null ? '' : clockOf(to, zone),
  };
}

function bodyOf(
  { titleZh, titleEn, textZh, textEn, level, group, from, to }: Text,
  zone: string,
): AnnouncementBody {
  return {
    title: { zh: titleZh.trim(), en: titleEn.trim() },
    text: { zh: textZh.trim(), en: textEn.trim() },
    level,
    group: group === '' ? null : group,
    ...(from !== '' && { from: instantOf(from, zone) }),
    to: to === '' ? null : instantOf(to, zone),
  };
}
