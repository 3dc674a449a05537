import type { Bundled } from './bundled.ts';
import { channelSchema, type WrittenChannel } from './config-schema.ts';
import { defaultGroup, type VendorFacts } from './configuration.ts';
import { didYouMean } from './nearest.ts';
import type { Path } from './problem.ts';
import type { Report } from './report.ts';
import type { ChannelFacts } from './snapshot.ts';
import { reportTwins } from './twins.ts';

/** What a channel may refer to. */
export interface Known {
  readonly groups: readonly string[];
  readonly models: ReadonlySet<string>;
  readonly bundled: Bundled;
  readonly vendors: readonly VendorFacts[];
}

export function readChannels(list: readonly unknown[], report: Report, known: Known): readonly ChannelFacts[] {
  reportTwins(list, ['channels'], 'name', report);
  return list.flatMap((item, index) => {
    const path = ['channels', index];
    const channel = report.parse(channelSchema, item, path);
    if (channel === undefined) return [];
    checkVendor(channel, report, path, known);
    const groups = channel.groups ?? [defaultGroup.name];
    groups.forEach((group, at) => {
      if (!known.groups.includes(group))
        report.add([...path, 'groups', at], `there is no group '${group}'${didYouMean(group, known.groups)}`);
    });
    const facts: ChannelFacts = {
      name: channel.name,
      vendor: channel.vendor,
      baseUrl: channel.base_url,
      secret: channel.api_key,
      groups: [...new Set(groups)],
      priority: channel.priority ?? 0,
      weight: channel.weight ?? 1,
      models:
        channel.models === undefined ? allOf(channel, report, path, known) : listed(channel.models, report, [...path, 'models'], known),
    };
    return [facts];
  });
}

function checkVendor({ vendor: name, base_url: baseUrl }: WrittenChannel, report: Report, path: Path, { vendors }: Known): void {
  const vendor = vendors.find(({ id }) => id === name);
  if (vendor === undefined) {
    const ids = vendors.map(({ id }) => id);
    report.add([...path, 'vendor'], `there is no vendor '${name}'${didYouMean(name, ids) || ` (there are ${ids.join(', ')})`}`);
  } else if (baseUrl === undefined && vendor.baseUrl === undefined) {
    report.add([...path, 'base_url'], `is required: ${name} has no address that is the same for everyone`);
  }
  if (baseUrl !== undefined && !isBaseUrl(baseUrl))
    report.add([...path, 'base_url'], `must be an address such as https://host/v1, without ? and #, not '${baseUrl}'`);
}

function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, search, hash } = new URL(text);
  return (protocol === 'https:' || protocol === 'http:') && search === '' && hash === '';
}

type WrittenModels = NonNullable<WrittenChannel['models']>;

function listed(models: WrittenModels, report: Report, path: Path, known: Known): ReadonlyMap<string, string> {
  const upstream = new Map<string, string>();
  models.forEach(({ id, upstream: theirs }, index) => {
    const isKnown = known.models.has(id);
    if (!isKnown)
      report.add(
        [...path, index],
        `there is no model '${id}', neither in this file nor in the bundled list${didYouMean(id, known.models)}`,
      );
    if (upstream.has(id)) report.add([...path, index], `'${id}' is already in this channel`);
    upstream.set(id, theirs ?? id);
  });
  return upstream;
}

/** A channel that names no models sells every bundled model of its vendor. */
function allOf({ vendor }: WrittenChannel, report: Report, path: Path, { bundled, vendors }: Known): ReadonlyMap<string, string> {
  const theirs = [...bundled.values()].filter((model) => model.vendor === vendor && !model.retired);
  const exists = vendors.some(({ id }) => id === vendor);
  if (exists && theirs.length === 0) report.add([...path, 'models'], `is required: the bundled list has no models of ${vendor}`);
  return new Map(theirs.map((model) => [model.facts.id, model.upstream]));
}
