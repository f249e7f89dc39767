/** `derbench run` and `check` within the process. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import { checkScenarios, runScenarios } from '../../../src/app/scenarios/command-run.ts';
import { flaggedScenario, scenarioCommand } from '../../../src/scenario/command.ts';

const text = `
name: Limit
parameters: { limit_pct: 60, seed: 7 }
config: { seed: '\${seed}', mb_enable: true, devices: [{ device_type: PV-3Phase, profile: 10kW-3Phase }] }
steps:
  - environment: { irradiance_w_m2: 1200, ambient_temperature_c: 10 }
    registers: { 704: { WMaxLimPct: '\${limit_pct}', WMaxLimPctEna: ENABLED } }
    expect: { point: 701.W, equals: '\${limit_pct * 100}', tolerance: 20, within: 10 s }
  - after: 11 s
    call: { request: POST /sunspec-client/connect, body: { device: 0 } }
  - call: { request: POST /sunspec-client/write, body: { model: 704, points: { WMaxLimPct: 20 } } }
    expect: { point: 701.W, equals: 2000, tolerance: 20, within: 5 s }
`;

describe('derbench run', () => {
  let folder: string;
  let lines: string[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'scenario-run-'));
    lines = [];
    writeFileSync(join(folder, 'limit.yaml'), text);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const path = (name: string) => join(folder, name);
  const output = () => ({
    print: (line: string) => lines.push(line),
    show: null,
    env: {},
    onInterrupt: () => () => undefined,
  });
  const run = (...words: readonly string[]) => runScenarios(scenarioCommand([path('limit.yaml'), ...words]), output());
  const read = (name: string) => readFileSync(path(name), 'utf8');

  it('ends several scenarios with the sum of them', async () => {
    writeFileSync(path('fails.yaml'), text.replace('limit_pct * 100', 'limit_pct * 90'));
    const files = ['limit.yaml', 'fails.yaml'].map(path);
    expect(await runScenarios(scenarioCommand(files), output())).to.equal(false);
    expect(lines.at(-1)).to.equal('1 of 2 scenarios passed (3 of 4 assertions)');
    expect(await run()).to.equal(true);
    expect(lines.at(-1)).to.match(/^Limit: passed/);
  });

  for (const [name, near] of [
    ['volt-wat', '; did you mean volt-watt?'],
    ['nothing', ''],
  ] as const)
    it(`names the bundled scenarios for ${name}, which is none`, async () => {
      const error = await runScenarios(scenarioCommand([name]), output()).catch(
        (thrown: unknown) => thrown as SimError,
      );
      const [issue] = (error as SimError).issues;
      expect(issue?.name).to.equal(name);
      expect(issue?.detail)
        .to.match(/^is neither a file nor a bundled scenario/)
        .and.contain(`scenario${near}; bundled: charging-site, `);
    });

  it('runs on free ports, with parameters in the configuration, and writes every kind of result', async () => {
    const files = ['json', 'junit', 'html', 'record'].flatMap((kind) => [`--${kind}`, path(`out.${kind}`)]);
    files.push('--findings_report', path('peers.txt'));
    expect(await run('--set', 'limit_pct=50', '--set', 'seed=8', ...files), lines.join('\n')).to.equal(true);
    expect(lines.join()).to.match(/^Limit: passed \(2 of 2 assertions, 3 of 3 steps; /);
    const result = JSON.parse(read('out.json')) as {
      readonly simulated: { readonly seed: number };
      readonly scenario: { readonly parameters: object };
    };
    expect(result.simulated.seed).to.equal(8);
    expect(result.scenario.parameters).to.deep.equal({ limit_pct: 50, seed: 8 });
    expect(read('out.junit')).to.contain('<testsuite name="Limit"');
    expect(read('out.html')).to.contain('Limit');
    expect(read('peers.txt')).to.match(/^Findings of derbench /);
    const [header = '', ...entries] = read('out.record').trim().split('\n');
    expect(JSON.parse(header)).to.deep.include({ recording: 'derbench', entries: entries.length });
    expect(entries.some((entry) => entry.includes('WMaxLimPct'))).to.equal(true);
  });

  it('tells failures, and gives a capture for tshark', async () => {
    expect(await run('--set', 'limit_pct=150', '--record', path('out.pcap'))).to.equal(false);
    expect(lines[0]).to.match(/^ {2}✗ limit.yaml:6: steps\[0\]: POST \/registers\/704 was answered with 4\d\d: /);
    expect(readFileSync(path('out.pcap')).readUInt32LE(0)).to.equal(0xa1b2c3d4);
  });

  it('writes the results although the recording cannot be written at the end', async () => {
    mkdirSync(path('gone'));
    const running = run('--record', path('gone/out.jsonl'), '--json', path('out.json'));
    // the files have been checked by now
    rmSync(path('gone'), { recursive: true });
    const error = await running.then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(SimError);
    expect((error as SimError).issues[0]?.name).to.equal('--record');
    expect(lines.join()).to.match(/^Limit: passed/);
    expect(read('out.json')).to.contain('"passed"');
  });

  it('refuses results that cannot be written before anything runs', async () => {
    const error = await run('--json', path('none/out.json')).then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(SimError);
    expect((error as SimError).issues[0]).to.deep.include({ name: '--json' });
    expect((error as SimError).issues[0]?.detail).to.match(/none\/out.json cannot be written: /);
    expect(lines).to.deep.equal([]);
  });

  it('checks without running, and names the place of a parameter that the configuration does not find', () => {
    checkScenarios(scenarioCommand([path('limit.yaml')]), output());
    expect(lines).to.deep.equal([`${path('limit.yaml')}: Limit is valid: 3 steps, 0 rules`]);
    writeFileSync(path('limit.yaml'), text.replace("'${seed}'", "'${sed}'"));
    expect(() => checkScenarios(scenarioCommand([path('limit.yaml')]), output()))
      .to.throw(SimError)
      .with.property('issues')
      .that.deep.equals([
        {
          name: 'limit.yaml:4: config.seed',
          detail: 'no parameter is named "sed"; did you mean seed?; known: limit_pct, seed',
        },
      ]);
  });

  const issuesOf = (...words: readonly string[]) => {
    try {
      checkScenarios(scenarioCommand([path('limit.yaml'), ...words]), output());
    } catch (error) {
      if (error instanceof SimError) return error.issues.map(({ name, detail }) => `${name}: ${detail}`);
      throw error;
    }
    return [];
  };

  it('names the flag or the word of the scenario that was meant', () => {
    expect(issuesOf('--jnit', 'x')).to.deep.equal(['--jnit: unknown flag; nearest known: --junit']);
    expect(issuesOf('--mb_prt', '3')).to.deep.equal(['--mb_prt: unknown flag; nearest known: --mb_port']);
    expect(issuesOf('--quiet=no')).to.deep.equal(['--quiet: given "no"; takes no value']);
    const words = `
steps:
  - expect: { no_alarm: { except: [soc_lo] } }
  - expect: { messages: { protocol: modbus, match: { unit: 1 }, at_most: 0 } }
  - when: { message: { protocol: dnp3, match: { functoin: read } } }
  - registers: { 704: { WMaxLimPct: 500, WMaxLimPctEna: ENABLE } }
  - registers: { 701: { W: 5 } }
  - expect: { nothing_left: { except: [704.WMaxLimPtc, 704.WMaxLimPct, WMaxLimPct] } }
`;
    writeFileSync(path('limit.yaml'), words);
    const issues = issuesOf();
    expect(issues.map((each) => each.split('; known')[0])).to.deep.equal([
      'limit.yaml:3: steps[0].expect: there is no alarm soc_lo; did you mean soc_low?',
      'limit.yaml:4: steps[1].expect: messages of modbus have no member unit; did you mean unit_id?',
      'limit.yaml:8: steps[5].expect: device 0 has no point 704.WMaxLimPtc; did you mean 704.WMaxLimPct?',
      'limit.yaml:8: steps[5].expect: "WMaxLimPct" is not a model and a point, such as 704.WMaxLimPct',
      'limit.yaml:5: steps[2]: messages of dnp3 have no member functoin; did you mean function?',
      'limit.yaml:6: steps[3].registers: 704.WMaxLimPctEna cannot be "ENABLE"; did you mean ENABLED?; allowed: DISABLED, ENABLED',
      'limit.yaml:7: steps[4].registers: 701.W of device 0 is read only',
    ]);
    expect(issues[4]).to.match(/; known: id, timestamp, .*objects/);
  });

  it('names devices that are not there wherever they stand, and values that a point never has', () => {
    const steps = [
      '{ device: 9, command: stop }',
      '{ device: 9, fault: { protocol: device, kind: reboot } }',
      '{ fault: { protocol: device, kind: reboot, device: 9 } }',
      '{ plug: true }',
      '{ expect: { get: controls?device=9, pointer: /a, equals: 1 } }',
      '{ registers: { 704: { WMaxLimPctEna: ON, WMaxLimPct: much } } }',
      '{ expect: { nothing_left: { except: [704.WMaxLim, WMaxLimPct] } } }',
      '{ when: { message: { protocol: csip } } }',
    ];
    writeFileSync(path('limit.yaml'), `steps:\n${steps.map((each) => `  - ${each}\n`).join('')}`);
    expect(issuesOf()).to.have.members([
      'limit.yaml:2: steps[0].command: there is no device 9; devices: 0',
      'limit.yaml:3: steps[1].fault: there is no device 9; devices: 0',
      'limit.yaml:4: steps[2].fault: there is no device 9; devices: 0',
      'limit.yaml:5: steps[3].plug: there is no charging station',
      'limit.yaml:6: steps[4].expect: there is no device 9; devices: 0',
      'limit.yaml:7: steps[5].registers: 704.WMaxLimPctEna cannot be "ON"; allowed: DISABLED, ENABLED',
      'limit.yaml:7: steps[5].registers: 704.WMaxLimPct is a number and cannot be "much"',
      'limit.yaml:8: steps[6].expect: device 0 has no point 704.WMaxLim',
      'limit.yaml:8: steps[6].expect: "WMaxLimPct" is not a model and a point, such as 704.WMaxLimPct',
      'limit.yaml:9: steps[7]: compares messages of IEEE 2030.5, and the client is switched off (csip_client_enable)',
    ]);
  });

  it('refuses flags that would do nothing', () => {
    expect(issuesOf('--junit', path('out.xml'))).to.deep.equal(['--junit: is for derbench run; check has no results']);
    const flagged = flaggedScenario(['--scenario', path('limit.yaml'), '--junit', 'x'], undefined)!;
    expect(() => checkScenarios(flagged, output()))
      .to.throw(SimError)
      .with.property('issues')
      .that.deep.equals([
        { name: '--junit', detail: 'is a flag of derbench run FILE; it cannot be given together with --scenario' },
      ]);
    expect(() => flaggedScenario(['--scenario', 'a.yaml', '--scenario=b.yaml'], undefined)).to.throw(SimError);
  });

  it('tells of the mistakes of every file, by the path that was given', () => {
    writeFileSync(path('one.yaml'), 'steps: [{}]');
    writeFileSync(path('two.yaml'), 'steps: {}');
    const words = ['one.yaml', 'limit.yaml', 'two.yaml'].map(path);
    const check = () => {
      checkScenarios(scenarioCommand(words), output());
    };
    expect(check).to.throw(SimError, '2 of 3 scenarios are not valid:');
    expect(check)
      .to.throw(SimError)
      .with.property('issues')
      .that.deep.equals([
        {
          name: `${path('one.yaml')}:1: steps[0]`,
          detail: 'does nothing: it needs a trigger, an action, expect, mark or name',
        },
        { name: `${path('two.yaml')}:1: steps`, detail: 'must be a list of steps' },
      ]);
    expect(lines[0]).to.equal(`${path('limit.yaml')}: Limit is valid: 3 steps, 0 rules`);
  });
});
