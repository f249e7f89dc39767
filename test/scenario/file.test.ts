import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { allRoutes } from '../../src/api/routes.ts';
import { createRequestCheck } from '../../src/api/http/perform.ts';
import { SimError } from '../../src/core/errors.ts';
import { readingScenario, readScenario } from '../../src/scenario/file/read.ts';
import { sourceOfFile, sourceOfRequest } from '../../src/scenario/file/source.ts';
import type { Scenario } from '../../src/scenario/model.ts';
import type { Parameters } from '../../src/scenario/file/parameters.ts';

const check = createRequestCheck(allRoutes, { maxBodyBytes: 262_144, maxUrlBytes: 8192 });
const read = (content: unknown, given: Parameters = {}): Scenario =>
  readScenario(sourceOfRequest(content), 'test', given, check);

/** Issues of a scenario that is refused, as `place: words`. */
function issuesOf(work: () => unknown): readonly string[] {
  try {
    work();
  } catch (error) {
    expect(error).to.be.instanceOf(SimError);
    expect((error as SimError).code).to.equal('CONFIG_INVALID');
    return (error as SimError).issues.map(({ name, detail }) => `${name}: ${detail}`);
  }
  throw new Error('it was accepted');
}

/** Files in a folder of their own. */
class Folder {
  readonly path = mkdtempSync(join(tmpdir(), 'scenario-'));

  write(files: Readonly<Record<string, string>>): this {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.path, name)), { recursive: true });
      writeFileSync(join(this.path, name), text);
    }
    return this;
  }

  read(name: string): Scenario {
    return readScenario(sourceOfFile(join(this.path, name)), name, {}, check);
  }

  remove(): void {
    rmSync(this.path, { recursive: true });
  }
}

describe('scenario files', () => {
  let folder: Folder;
  beforeEach(() => (folder = new Folder()));
  afterEach(() => folder.remove());

  it('put parameters, loops and included files in', () => {
    folder.write({
      'main.yaml': [
        'parameters: { high: 1.05, name: roof }',
        'steps:',
        "  - { at: 10 s, name: 'raise ${name}', grid: { voltage_pu: '${high}' } }",
        "  - { repeat: { w: [500, 800] }, steps: [{ after: 1 min, irradiance: '${w}' }] }",
        '  - { include: parts/end.yaml, with: { pct: 30 } }',
      ].join('\n'),
      'parts/end.yaml': "parameters: { pct: 50 }\nsteps:\n  - { registers: { 704: { WMaxLimPct: '${pct}' } } }\n",
    });
    const { steps } = folder.read('main.yaml');
    expect(steps.map(({ name }) => name)).to.deep.equal([
      'raise roof',
      'POST /controls/environment',
      'POST /controls/environment',
      'POST /registers/704',
    ]);
    expect(steps[0]?.trigger).to.deep.equal({ kind: 'at', offsetS: 10 });
    expect(steps.flatMap(({ actions }) => actions.map(({ request }) => request.body))).to.deep.equal([
      { voltage_pu: 1.05 },
      { irradiance_w_m2: 500 },
      { irradiance_w_m2: 800 },
      { points: { WMaxLimPct: 30 } },
    ]);
    expect(steps[3]?.place).to.deep.include({ file: 'parts/end.yaml', line: 3 });
  });

  it('are refused with file, line and key, all mistakes together', () => {
    folder.write({
      'main.yaml': [
        'steps:',
        '  - grid: { voltage_pux: 1 }',
        '  - at: 5 sec',
        '  - { expect: { point: 701.W } }',
        "  - { grid: { voltage_pu: '${hi}' } }",
        '  - { after: 1, at: 2 }',
        '  - { cron: 61 * * * * }',
        '  - { expect: { point: 701.W, above: 1, since: lunch } }',
      ].join('\n'),
    });
    const issues = issuesOf(() => folder.read('main.yaml'));
    expect(issues.map((each) => each.slice(0, 44))).to.deep.equal([
      'main.yaml:2: steps[0].grid.voltage_pux: is n',
      'main.yaml:3: steps[1].at: must be seconds, o',
      'main.yaml:4: steps[2].expect: needs one of e',
      'main.yaml:5: steps[3].grid.voltage_pu: no pa',
      'main.yaml:6: steps[4]: has at and after; all',
      'main.yaml:7: steps[5].cron: is not a cron pa',
      'main.yaml:8: steps[6].expect: no step has th',
    ]);
    expect(issues[0]).to.contain('did you mean voltage_pu?');
  });

  it('refuse what does nothing, never ends or can never be met', () => {
    expect(issuesOf(() => read({ steps: [] }))).to.deep.equal(['/steps: must have at least 1 step']);
    const rule = { when: { point: '701.W', above: 0, timeout: 5 }, steps: [{ after: 1 }] };
    const content = {
      steps: [
        {},
        { device: 0 },
        { name: 'a note' },
        { expect: { point: '701.W', above: 5, below: 5 } },
        { expect: { point: '701.W', equals: 5, at_least: 6, tolerance: 0.4 } },
        { expect: { point: '701.W', above: 5, below: 5, tolerance: 1 } },
      ],
      rules: [rule, 5],
    };
    const nothing = 'does nothing: it needs a trigger, an action, expect, mark or name';
    expect(issuesOf(() => read(content))).to.deep.equal([
      `/steps/0: ${nothing}`,
      `/steps/1: ${nothing}`,
      '/steps/3/expect: no value can meet all of its comparisons',
      '/steps/4/expect: no value can meet all of its comparisons',
      '/rules/0/when/timeout: is for steps only: a rule waits until the end of the scenario',
      '/rules/1: must be an object; given 5',
    ]);
  });

  it('tell of the same mistake once, however often its file is included', () => {
    folder.write({
      'main.yaml': 'steps: [{ include: part.yaml }, { include: part.yaml }]',
      'part.yaml': 'steps: [{ grdi: 1 }]',
    });
    expect(issuesOf(() => folder.read('main.yaml'))).to.deep.equal([
      'part.yaml:1: steps[0].grdi: is not a member of a step; did you mean grid?',
    ]);
  });

  it('include only what lies in their folder once links are resolved', () => {
    const outside = new Folder().write({ 'secret.yaml': 'steps: [{ at: 1 }]' });
    symlinkSync(join(outside.path, 'secret.yaml'), join(folder.path, 'link.yaml'));
    folder.write({
      'link-out.yaml': 'steps: [{ include: link.yaml }]',
      'up.yaml': 'steps: [{ include: ../up.yaml }]',
      'absolute.yaml': `steps: [{ include: ${join(outside.path, 'secret.yaml')} }]`,
      'circle.yaml': 'steps: [{ include: circle.yaml }]',
    });
    outside.remove();
    symlinkSync(folder.path, `${folder.path}-link`);
    expect(issuesOf(() => folder.read('link-out.yaml'))[0]).to.match(/there is no such file|leads out of/);
    expect(issuesOf(() => folder.read('up.yaml'))[0]).to.match(/no such file|leads out of the folder/);
    expect(issuesOf(() => folder.read('absolute.yaml'))[0]).to.contain('must be relative');
    expect(issuesOf(() => folder.read('circle.yaml'))[0]).to.contain('deeper than 8 levels');
    rmSync(`${folder.path}-link`);
  });

  it('over REST have no includes and at most 10,000 steps', () => {
    expect(issuesOf(() => read({ steps: [{ include: 'x.yaml' }] }))).to.deep.equal([
      '/steps/0/include: `include` is for scenarios in files only',
    ]);
    expect(read({ steps: [{ repeat: 10_000, steps: [{ after: 1 }] }] }).steps).to.have.length(10_000);
    const tooMany = { steps: [{ repeat: 5001, steps: [{ after: 1 }, { after: 1 }] }] };
    expect(issuesOf(() => read(tooMany))[0]).to.contain('is step 10001; a scenario has at most 10000 steps');
  });

  /** A loop whose step has this body, of which the interface accepts none. */
  const loopOf = (repeat: number, body: unknown, parameters: Parameters = {}) => ({
    parameters,
    steps: [{ repeat, steps: [{ call: { request: 'POST /controls/grid', body, status: 422 } }] }],
  });
  const limit =
    'after substitution of parameters, with loops and included files counted each time, a scenario has at most 16 MiB';

  it('have at most 16 MiB with parameters put in, found before they are', () => {
    const p = 'x'.repeat(1000);
    const places = (count: number) => ({ places: Array.from({ length: count }, () => '${p}') });
    expect(issuesOf(() => read(loopOf(10_000, places(2499), { p })))).to.deep.equal([
      `/steps/0/steps/0/call/body/places/1714: ${limit}`,
    ]);
    // in one text the next place is not read
    expect(issuesOf(() => read(loopOf(1, { text: '${p}'.repeat(20_000) }, { p })))).to.deep.equal([
      `/steps/0/steps/0/call/body/text: ${limit}`,
    ]);
    expect(issuesOf(() => read(loopOf(10_000, { text: 'x'.repeat(10_000) })))).to.deep.equal([
      `/steps/0/steps/0/call/body/text: ${limit}`,
    ]);
    expect(read(loopOf(10_000, places(1), { p })).filledBytes).to.be.within(10e6, 12e6);
  });

  it('share in all rounds of a loop what has no parameter', () => {
    const { steps } = read(loopOf(2, { rest: { deep: [1, 2] }, round: '${round}' }));
    const [first, second] = steps.map(({ actions }) => actions[0]?.request.body as { rest: object; round: number });
    expect([first?.round, second?.round]).to.deep.equal([1, 2]);
    expect(first?.rest).to.equal(second?.rest);
  });

  it('are read in turns: of each step, and of each of its checks', () => {
    const source = sourceOfRequest({ steps: [{ repeat: 50, steps: [{ after: 1 }] }] });
    const reading = readingScenario(source, 'test', {}, check, () => [null, null]);
    let turns = 0;
    while (reading.next().done !== true) turns += 1;
    expect(turns).to.equal(1 + 50 + 2);
  });

  it('have 1,000 parameters at most, and 1,000 rules', () => {
    const parameters = Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`p${n}`, n]));
    expect(issuesOf(() => read({ parameters, steps: [{ after: 1 }] }))).to.deep.equal([
      '/parameters: has at most 1000 parameters',
    ]);
    expect(issuesOf(() => read({ steps: [{ after: 1 }] }, parameters))).to.have.length(1);
    const rules = Array.from({ length: 1001 }, () => ({ every: 5, steps: [{ after: 1 }] }));
    expect(issuesOf(() => read({ steps: [{ after: 1 }], rules }))).to.deep.equal([
      '/rules: a scenario has at most 1000 rules',
    ]);
  });

  it('name each unknown mark, with a hint for the first of them', () => {
    const step = { mark: 'mark${round}', expect: { point: '701.W', since: 'marc${round}', above: 0 } };
    const issues = issuesOf(() => read({ steps: [{ repeat: 6000, steps: [step] }] }));
    expect(issues).to.have.length(51);
    expect(issues[0]).to.match(/no step has the mark marc1; did you mean mark1\?/);
    expect(issues.at(-1)).to.equal('and more: 5950 further issues are not listed');
  });

  it('take parameters of the caller that they know', () => {
    const content = { parameters: { w: 1 }, steps: [{ irradiance: '${w}' }] };
    expect(read(content, { w: 700 }).steps[0]?.actions[0]?.request.body).to.deep.equal({ irradiance_w_m2: 700 });
    expect(issuesOf(() => read(content, { wx: 700 }))[0]).to.contain('no parameter named "wx"');
  });

  it('refuse to interfere with the run, however the path is written', () => {
    for (const path of ['/controls/time', '/controls/time/step', '/scenarios/2', '/scenarios/2/stop', '/state/restore'])
      for (const form of [path, `${path}/`, `/api/sim${path}`, `/api/sim${path}/?device=1`]) {
        const method = path === '/scenarios/2' ? 'DELETE' : 'POST';
        const [issue, ...others] = issuesOf(() => read({ steps: [{ call: { request: `${method} ${form}` } }] }));
        expect(others).to.deep.equal([]);
        expect(issue, form).to.match(
          /the scenario has the clock|a scenario cannot (start, stop or delete scenarios|restore a state)/,
        );
      }
    expect(read({ steps: [{ call: { request: 'GET /api/sim/scenarios/2' } }] }).steps).to.have.length(1);
    const snapshot = { request: 'POST /state/snapshot', body: { name: 'before' } };
    expect(read({ steps: [{ call: snapshot }] }).steps).to.have.length(1);
  });

  it('check every request by its own operation, at the key of the short form', () => {
    const steps = [
      { irradiance: 'bright' },
      { registers: { 704: 5 } },
      { fault: { protocol: 'modbus', kind: 'delay', delay_ms: -1 } },
      { plug: { ev: { soc_pct: 120 } } },
      { call: { request: 'POST /contorls/grid' } },
      { command: 'jump' },
    ];
    const places = issuesOf(() => read({ steps })).map((each) => each.split(':')[0]);
    expect(places).to.deep.equal([
      '/steps/0/irradiance',
      '/steps/1/registers',
      '/steps/2/fault/delay_ms',
      '/steps/3/plug/ev/soc_pct',
      '/steps/4/call',
      '/steps/5/command',
    ]);
  });
});
