import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ModelDetail } from '../../src/console/contract.ts';
import { prefetch, useData, useSession, type Visit } from '../api/data.ts';
import { useSearchState } from '../browser/search-state.ts';
import { Banner } from '../components/banner.tsx';
import { buttonLook } from '../components/button.tsx';
import { Icon } from '../components/icon.tsx';
import { Fact, Facts } from '../components/facts.tsx';
import { DetailPage } from '../components/detail-page.tsx';
import { Money } from '../components/money.tsx';
import { Panel } from '../components/page.tsx';
import { PathLink } from '../components/path-link.tsx';
import { Time } from '../components/time.tsx';
import { formatCount, formatShare } from '../format/count.ts';
import { longestFraction } from '../format/money.ts';
import { lineKey, priceText } from '../format/price.ts';
import { formatDuration } from '../format/time.ts';
import { chatSample } from '../samples/chat.ts';
import type { Sample } from '../samples/client.ts';
import { imageSample } from '../samples/image.ts';
import { videoSample } from '../samples/video.ts';
import { modelsWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { Rich } from '../words/rich.tsx';
import { useVendorName } from '../words/vendor-names.ts';
import {
  abilities,
  AbilityBadges,
  AboutText,
  contentsOf,
  hasAbility,
  speedTexts,
} from './model-facts.tsx';
import { SpeedHistory } from './model-history.tsx';
import { modelAddress, useLineName, useWithoutLostGroup } from './model-parts.tsx';
import { CodePanel } from './play/code-panel.tsx';

const searchDefaults = { group: '' };

export const ahead = ({ params: { _splat: id = '' }, search: { group } }: Visit) =>
  prefetch(modelAddress(id), typeof group === 'string' ? { group } : {});

/** One model: abilities, price per group, health, and code to call it. */
export function ModelPage(): ReactNode {
  const words = useWords(modelsWords);
  const { _splat: id = '' } = useParams({ strict: false });
  const [{ group }, set] = useSearchState(searchDefaults);
  const model = useData<ModelDetail>(modelAddress(id), { group: group || undefined });
  useWithoutLostGroup(model.error, group, set);
  return (
    <DetailPage
      query={model}
      title={id}
      list={{ label: words.title, to: '/models' }}
      note={(detail) => (
        <p className="text-table text-muted">
          <AboutText model={detail} />
        </p>
      )}
      actions={({ kind }) =>
        playgrounds.includes(kind) && (
          <PathLink
            path={`/playground/${kind}?${new URLSearchParams({ model: id })}`}
            className={buttonLook({ look: 'primary' })}
          >
            <Icon name="play" />
            {words.try}
          </PathLink>
        )
      }
    >
      {(detail) => <Detail model={detail} />}
    </DetailPage>
  );
}

/** Each has a playground of its name. */
const playgrounds: readonly ModelDetail['kind'][] = [
  'chat',
  'image',
  'video',
  'speech',
  'transcription',
  'embedding',
];

function Detail({ model }: { readonly model: ModelDetail }): ReactNode {
  const words = useWords(modelsWords);
  const { base_url: baseUrl } = useSession();
  const sample = sampleOf(baseUrl, model);
  return (
    <div className="flex flex-col gap-4">
      {model.shutdown_date !== null && (
        <Banner tone="warn">{words.retiresOn(model.shutdown_date)}</Banner>
      )}
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_minmax(0,1.4fr)]">
        <Panel title={words.facts}>
          <About model={model} />
        </Panel>
        <Panel title={words.prices} flush>
          <Prices model={model} />
        </Panel>
      </div>
      <SpeedHistory model={model} />
      {sample !== undefined && (
        <CodePanel title={words.code} note={words.codeNote} sample={sample} />
      )}
    </div>
  );
}

function sampleOf(
  baseUrl: string,
  { id: model, kind, durations }: ModelDetail,
): Sample | undefined {
  if (kind === 'chat')
    return chatSample(baseUrl, {
      model,
      messages: [{ role: 'user', content: 'Hello!' }],
      stream: true,
    });
  if (kind === 'image') return imageSample(baseUrl, { model, prompt: 'A red fox in the snow' });
  if (kind !== 'video') return undefined;
  return videoSample(baseUrl, {
    model,
    prompt: 'A red fox walks through the snow',
    duration: durations?.[0] ?? 5,
    async: true,
  });
}

function About({ model }: { readonly model: ModelDetail }): ReactNode {
  const words = useWords(modelsWords);
  const { image, durations, speed } = model;
  const contents = contentsOf(model);
  const { pace } = speedTexts(words, model);
  const nameOf = useVendorName();
  const named = (list: readonly string[]) =>
    list.map((one) => words.modalities[one] ?? one).join(words.comma);
  const listed = (list: readonly (number | string)[]) => list.join(words.comma);
  return (
    <Facts>
      <Fact name={words.kind}>{words.kinds[model.kind]}</Fact>
      <Fact name={words.vendor}>{nameOf(model.vendor)}</Fact>
      {model.context !== null && (
        <Fact name={words.columns.context}>{words.tokens(formatCount(model.context))}</Fact>
      )}
      {model.output_tokens_max !== null && (
        <Fact name={words.outputMax}>{words.tokens(formatCount(model.output_tokens_max))}</Fact>
      )}
      {contents && <Fact name={words.takes}>{named(contents.in)}</Fact>}
      {contents && <Fact name={words.gives}>{named(contents.out)}</Fact>}
      {abilities.some((ability) => hasAbility(model, ability)) && (
        <Fact name={words.can.label}>
          <span className="flex flex-wrap gap-1">
            <AbilityBadges model={model} />
          </span>
        </Fact>
      )}
      {image && (
        <Fact name={words.sizes}>{image.sizes === null ? words.anySize : listed(image.sizes)}</Fact>
      )}
      {image?.qualities && <Fact name={words.qualities}>{listed(image.qualities)}</Fact>}
      {image?.images_max && <Fact name={words.imagesMax}>{image.images_max}</Fact>}
      {durations && <Fact name={words.durations}>{words.seconds(listed(durations))}</Fact>}
      {speed === null ? (
        <Fact name={words.firstByte}>
          <span className="text-muted">{words.quiet}</span>
        </Fact>
      ) : (
        <>
          {speed.first_byte_median_ms !== null && (
            <Fact name={words.firstByte}>{formatDuration(speed.first_byte_median_ms)}</Fact>
          )}
          {speed.total_median_ms !== null && (
            <Fact name={words.wholeAnswer}>{formatDuration(speed.total_median_ms)}</Fact>
          )}
          {pace !== undefined && <Fact name={words.pace}>{pace}</Fact>}
          <Fact name={words.success}>{formatShare(speed.success_share)}</Fact>
        </>
      )}
    </Facts>
  );
}

/** Price lines down, groups across: the numbers that a charge multiplies. */
function Prices({ model }: { readonly model: ModelDetail }): ReactNode {
  const words = useWords(modelsWords);
  const lineName = useLineName();
  const lines = new Map(
    model.by_group.flatMap(({ prices }) => prices.map((price) => [lineKey(price), price])),
  );
  return (
    <>
      <div className="overflow-x-auto" role="region" aria-label={words.prices} tabIndex={0}>
        <table className="w-full border-collapse text-table">
          <thead>
            <tr className="bg-sunken text-caption text-muted">
              <th scope="col" className="h-8 px-4 text-left font-medium whitespace-nowrap">
                {words.line}
              </th>
              {model.by_group.map(({ group, multiplier }) => (
                <th key={group} scope="col" className="px-4 text-right font-medium">
                  <span className="ml-auto flex w-fit max-w-48 whitespace-nowrap">
                    <Rich
                      text={words.groupColumn(multiplier)}
                      name={<span className="truncate">{group}</span>}
                    />
                  </span>
                </th>
              ))}
              <th scope="col" className="px-4 text-left font-medium whitespace-nowrap">
                {words.unit}
              </th>
            </tr>
          </thead>
          <tbody>
            {[...lines].map(([key, price]) => (
              <tr key={key} className="border-t border-line">
                <th scope="row" className="h-9 px-4 py-1 text-left font-normal">
                  {lineName(price)}
                </th>
                {model.by_group.map(({ group, prices }) => (
                  <td key={group} className="px-4 text-right">
                    {/* A fee is missing where the group's channels do not run that tool. */}
                    <Money
                      amount={prices.find((one) => lineKey(one) === key)?.amount ?? null}
                      as="price"
                      places={longestFraction(prices.map(({ amount }) => priceText(amount)))}
                    />
                  </td>
                ))}
                <td className="px-4 whitespace-nowrap text-muted">
                  {words.pricePer(words.yuan, words.per[price.unit])}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="border-t border-line px-4 py-2 text-caption text-muted">
        {model.price_version !== null && (
          <>
            <Rich
              text={words.priceVersion(String(model.price_version.version))}
              since={<Time at={model.price_version.since} as="day" />}
            />
            {' · '}
          </>
        )}
        {words.rule}
      </p>
    </>
  );
}
