import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parser } from '@prometheus-io/lezer-promql';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { systemClock } from '../src/base/clock.ts';
import { readConfiguration } from '../src/catalog/config.ts';
import { serves } from '../src/app/gateway.ts';
import { vendors } from '../src/providers/index.ts';
import { sqliteUrl } from './databases.ts';
import { hello, oneModel, startRunning } from './support/running.ts';
import { startVendor } from './support/scripted-vendor.ts';

const run = promisify(execFile);
const root = new URL('..', import.meta.url);
const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, root)), 'utf8');

/** Building one needs no Docker, but time. */
const images = process.env['LONG_TESTS'] === 'true' ? ['deploy/docker/Dockerfile'] : [];

/** The directives in `location /` of a guide's nginx block, one a line. */
function locationOf(guide: string): readonly string[] {
  const block = /```nginx\n[\s\S]*?location \/ \{\n([\s\S]*?)\n {4}\}/.exec(read(guide))?.[1] ?? '';
  return block.split('\n').map((line) => line.trim());
}

/** What a metric is called in samples, and the labels that it has been seen with. */
type Exposed = ReadonlyMap<string, ReadonlySet<string>>;

interface Selected {
  readonly metric: string;
  readonly labels: readonly string[];
}

/** By the grammar of Prometheus itself. Throws where the expression is none. */
function selectorsOf(expression: string): readonly Selected[] {
  const text = expression.replaceAll('$__rate_interval', '5m').replaceAll('$instance', 'a');
  const selected: Selected[] = [];
  parser.parse(text).iterate({
    enter(node) {
      if (node.type.isError) throw new Error(`at ${node.from}: ${text}`);
      if (node.name !== 'VectorSelector') return;
      const metric = node.node.getChild('Identifier');
      const matchers =
        node.node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
      const names = matchers.map((matcher) => matcher.getChild('LabelName'));
      if (metric === null) throw new Error(`a selector without a name: ${text}`);
      selected.push({
        metric: text.slice(metric.from, metric.to),
        labels: names.map((name) => text.slice(name?.from, name?.to)),
      });
    },
  });
  return selected;
}

function exposedBy(page: string): Exposed {
  const exposed = new Map<string, Set<string>>();
  for (const [, name = '', type] of page.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    for (const suffix of type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''])
      exposed.set(name + suffix, new Set());
  }
  for (const [, name = '', labels = ''] of page.matchAll(/^([a-z]\w*)(?:\{(.*)\})? \S+$/gm)) {
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) exposed.get(name)?.add(label);
  }
  return exposed;
}

/** Only where nodes share their limits. */
const nodesOnly = new Set([
  'tollgate_shared_state_up gauge',
  'tollgate_limits_alone_total counter',
]);

/** Prometheus's own, and those that it adds. */
const added = { metrics: ['up'], labels: ['instance', 'job'] };

function unknownIn(expressions: readonly string[], exposed: Exposed): readonly string[] {
  return expressions.flatMap(selectorsOf).flatMap(({ metric, labels }) => {
    if (added.metrics.includes(metric)) return [];
    const known = exposed.get(metric);
    if (known === undefined) return [metric];
    // Of what has not happened yet there are no samples, and no labels.
    return known.size === 0
      ? []
      : labels
          .filter((label) => !added.labels.includes(label) && !known.has(label))
          .map((label) => `${metric}{${label}}`);
  });
}

describe('what watches the gateway', () => {
  /** The page of a gateway that has answered a request and refused one. */
  async function pageNow(): Promise<string> {
    const vendor = await startVendor();
    const running = await startRunning({
      databaseUrl: await sqliteUrl(),
      configuration: oneModel(vendor.url),
    });
    await running.post('/v1/chat/completions', hello);
    await running.post('/v1/chat/completions', { ...hello, model: 'nothing' });
    return (
      await fetch(`${running.url}/metrics`, { headers: { authorization: 'Bearer metrics' } })
    ).text();
  }

  test('every alert, every panel and the reference know what there is', async () => {
    const page = await pageNow();
    const { groups } = parse(read('deploy/prometheus/alerts.yaml'));
    const expressions = groups.flatMap(({ rules }: { rules: readonly { expr: string }[] }) =>
      rules.map(({ expr }) => expr),
    );
    expect(expressions.length).toBeGreaterThan(10);
    expect(unknownIn(expressions, exposedBy(page))).toEqual([]);
    const { panels } = JSON.parse(read('deploy/grafana/tollgate.json'));
    const shown = panels.flatMap(({ targets = [] }: { targets?: readonly { expr: string }[] }) =>
      targets.map(({ expr }) => expr),
    );
    expect(shown.length).toBeGreaterThan(30);
    expect(unknownIn(shown, exposedBy(page))).toEqual([]);
    const ours = [...page.matchAll(/^# TYPE (tollgate_\w+) (\w+)$/gm)].map(
      ([, name, type]) => `${name} ${type}`,
    );
    const rows = [
      ...read('docs/reference/metrics.md').matchAll(/^\| `(tollgate_\w+)`[^|]*\| (\w+) \|/gm),
    ].map(([, name, type]) => `${name} ${type}`);
    expect(rows.filter((row) => !nodesOnly.has(row)).sort()).toEqual(ours.sort());
  });

  test('a metric or a label that does not exist would be noticed', () => {
    const sample = '# TYPE tollgate_requests_total counter\ntollgate_requests_total{model="a"} 1\n';
    expect(
      unknownIn(
        ['rate(tollgate_nothing_total[5m]) / tollgate_requests_total{key="a"}'],
        exposedBy(sample),
      ),
    ).toEqual(['tollgate_nothing_total', 'tollgate_requests_total{key}']);
    expect(() => selectorsOf('sum by (rate(x[5m])')).toThrow('at ');
  });
});

describe('what runs the gateway', () => {
  const places = ['deploy/docker/tollgate.yaml', 'deploy/kubernetes/tollgate.yaml'];
  test.each(places)('%s can be used as it is', async (path) => {
    const context = {
      env: { DEEPSEEK_API_KEY: 'sk-1' },
      vendors: [...vendors.values()],
      serves,
      now: systemClock.now(),
    };
    expect(await readConfiguration(read(path), context)).toMatchObject({ ok: true });
  });

  test('every manifest is named, and every selector finds the pods', () => {
    const { resources } = parse(read('deploy/kubernetes/kustomization.yaml'));
    const files = readdirSync(fileURLToPath(new URL('deploy/kubernetes', root))).filter((name) =>
      name.endsWith('.yaml'),
    );
    expect([...resources, 'kustomization.yaml', 'tollgate.yaml'].sort()).toEqual(files.sort());
    const all = files.map((name) => read(`deploy/kubernetes/${name}`)).join('\n---\n');
    const labels = [...all.matchAll(/^.*(?:matchLabels|selector): (\{.+\})$/gm)].map(
      ([, text = '']) => parse(text),
    );
    expect(labels).toHaveLength(5);
    for (const one of labels) expect(one).toEqual({ 'app.kubernetes.io/name': 'tollgate' });
  });

  test('all that the build reads is sent to the builder of the image', async () => {
    const sources: unknown = await import(new URL('scripts/sources.mjs', root).href);
    const { inputs } = sources as { readonly inputs: readonly string[] };
    const sent = read('deploy/docker/Dockerfile.dockerignore').split('\n');
    expect(inputs.filter((input) => !sent.includes(`!${input}`))).toEqual([]);
  });

  test.each(images)(
    'the image of %s can be built of what is sent to its builder',
    { timeout: 170_000 },
    async (file) => {
      // The build moves what it has made: all of it is on one disk.
      const cache = fileURLToPath(new URL('node_modules/.cache', root));
      await mkdir(cache, { recursive: true });
      const context = await mkdtemp(join(cache, 'image-'));
      onTestFinished(() => rm(context, { recursive: true, force: true }));
      const sent = [...read(`${file}.dockerignore`).matchAll(/^!(.+)$/gm)].map(
        ([, name = '']) => name,
      );
      for (const name of sent)
        await cp(fileURLToPath(new URL(name, root)), join(context, name), {
          recursive: true,
          filter: (path) => !path.endsWith('.test.ts'),
        });
      await symlink(fileURLToPath(new URL('node_modules', root)), join(context, 'node_modules'));
      await run(process.execPath, ['scripts/build.mjs'], { cwd: context });
      const { stdout } = await run(process.execPath, ['bin/tollgate.js', '--version'], {
        cwd: context,
      });
      expect(stdout.trim()).toBe(JSON.parse(read('package.json')).version);
      expect(readdirSync(join(context, 'dist/docs/guide'))).toContain('index.html.gz');
    },
  );

  test('whoever stops it waits longer than it needs', () => {
    const [deployment] = parseAllDocuments(read('deploy/kubernetes/deployment.yaml')).map(
      (document) => document.toJS(),
    );
    const { services } = parse(read('deploy/docker/compose.yaml'));
    const unit = /^TimeoutStopSec=(\d+)$/m.exec(read('deploy/systemd/tollgate.service'))?.[1];
    const drainSeconds = Number(
      /^const drainMs = (\d+)_000;$/m.exec(read('src/app/servers.ts'))?.[1],
    );
    for (const seconds of [
      deployment.spec.template.spec.terminationGracePeriodSeconds,
      Number.parseInt(services.gateway.stop_grace_period, 10),
      Number(unit),
    ])
      expect(seconds).toBeGreaterThanOrEqual(drainSeconds + 15);
  });

  test('none may take its whole machine', () => {
    const [deployment] = parseAllDocuments(read('deploy/kubernetes/deployment.yaml')).map(
      (document) => document.toJS(),
    );
    const { services } = parse(read('deploy/docker/compose.yaml'));
    const unit = read('deploy/systemd/tollgate.service');
    expect(deployment.spec.template.spec.containers[0].resources.limits.memory).toMatch(/^\dGi$/);
    expect(services.gateway).toMatchObject({
      mem_limit: expect.stringMatching(/^\dg$/),
      pids_limit: expect.any(Number),
    });
    expect(unit).toMatch(/^MemoryMax=\d+%$/m);
    expect(unit).toMatch(/^TasksMax=\d+$/m);
  });

  test('nginx before one machine passes on as nginx before several, which a test runs', () => {
    const ofOne = locationOf('docs/guides/deploy.md');
    const ofSeveral = locationOf('docs/guides/scale-out.md');
    expect(ofOne).toContain('proxy_buffering off;');
    const own = (line: string) => !line.startsWith('proxy_pass ');
    expect(ofOne.filter((line) => own(line) && !ofSeveral.includes(line))).toEqual([]);
  });

  test('every variable that it is given is one that it reads', () => {
    const known = ['docs/reference/environment.md', 'docs/guides/deploy.md'].map(read).join('');
    const given = [
      'deploy/docker/Dockerfile',
      'deploy/docker/compose.yaml',
      'deploy/kubernetes/deployment.yaml',
      'deploy/systemd/tollgate.service',
    ]
      .flatMap((path) => [
        ...read(path).matchAll(
          /\b((?:TOLLGATE|OTEL)_[A-Z_]+|DATABASE_URL|REDIS_URL|MEDIA_URL|PUBLIC_URL)\b/g,
        ),
      ])
      .map(([name]) => name);
    expect([...new Set(given)].filter((name) => !known.includes(`\`${name}`))).toEqual([]);
  });
});
