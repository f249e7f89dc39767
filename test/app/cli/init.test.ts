import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseArguments } from '../../../src/app/cli/arguments.ts';
import { init, questions } from '../../../src/app/cli/init.ts';
import type { Ask } from '../../../src/app/cli/init.ts';
import { commandOf, optionsOf } from '../../../src/app/cli/table/commands.ts';
import { checkScenarios } from '../../../src/app/scenarios/command-run.ts';
import { loadConfig } from '../../../src/config/layers/load.ts';
import { scenarioCommand } from '../../../src/scenario/command.ts';

describe('derbench init', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'derbench-init-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const path = (name: string) => join(folder, name);
  const begin = (words: readonly string[], ask: Ask = null) =>
    init(parseArguments(commandOf('init')!, words), ask, 'npm start --');
  const configOf = (name: string) => {
    const loaded = loadConfig(['--config', path(name)], {});
    if (loaded.kind !== 'run') throw new Error('no configuration');
    return loaded.config;
  };
  const refusal = (words: readonly string[]) =>
    begin([path('x.yaml'), ...words]).then(
      () => 'no refusal',
      (error: unknown) => (error as Error).message,
    );

  it('has an option for each question', () => {
    const flags = optionsOf(commandOf('init')!).map(({ flag }) => flag);
    expect(flags).to.include.members(questions.map(({ flag }) => flag));
  });

  it('writes a configuration that starts, without a terminal by presets', async () => {
    expect(await begin([path('a.yaml')])).to.deep.equal([
      `${path('a.yaml')} is written and valid. Start it: npm start -- --config ${path('a.yaml')}`,
    ]);
    const { devices, modbus } = configOf('a.yaml');
    expect([devices.length, modbus.port]).to.deep.equal([1, 8502]);
    expect(readFileSync(path('a.yaml'), 'utf8')).to.match(
      /^# yaml-language-server: \$schema=\S*config\/schema\/config\.schema\.json\n/,
    );
  });

  it('takes flags for every answer, with devices of every kind', async () => {
    const kinds = ['--kinds', 'pv=2,Batt,wind,fuelcell,hybrid,EVSE=2', '--rating=5.5', '--frequency', '50'];
    await begin([path('b.yaml'), ...kinds, '--protocols', 'dnp3,ocpp', '--http-port', '0', '--yes']);
    const { devices, web } = configOf('b.yaml');
    expect(devices.map(({ deviceType }) => deviceType).join()).to.equal(
      'PV-3Phase,PV-3Phase,Batt-3Phase,Wind-T4-3Phase,Fuelcell-3Phase,HybridDC-3Phase,EVSE,EVSE',
    );
    const text = readFileSync(path('b.yaml'), 'utf8');
    expect(web.port).to.equal(0);
    expect(text).to.contain('nominal_frequency_hz: 50').and.contain('WMaxRtg: 5500, VAMaxRtg: 5500, VNomRtg: 400');
    expect(text).to.contain('mb_enable: false').and.contain('dnp3_enable: true').and.contain('ocpp_enable: true');
  });

  it('asks what no flag answers; an empty answer is the preset', async () => {
    const asked: string[] = [];
    await begin([path('c.yaml'), '--frequency', '50'], (text, preset) => {
      asked.push(preset);
      return Promise.resolve(text.startsWith('Devices') ? 'Batt=3' : '');
    });
    expect(asked).to.deep.equal(['PV=1', '10', 'modbus', '8502', '8111']);
    expect(configOf('c.yaml').devices).to.have.length(3);
    await begin([path('d.yaml'), '--yes'], () => Promise.reject(new Error('a question')));
  });

  it('leaves a file that exists', async () => {
    writeFileSync(path('x.yaml'), 'mine');
    expect(await refusal([])).to.contain('x.yaml exists already; give another name');
    expect(readFileSync(path('x.yaml'), 'utf8')).to.equal('mine');
  });

  for (const [words, text] of [
    [['--kinds', 'Bat=1'], 'did you mean Batt?'],
    [['--kinds', 'PV=0'], 'a number from 1 to 1000'],
    [['--rating', 'much'], '--rating: given "much"'],
    [['--rating='], '--rating has no value'],
    [['--frequency', '55'], 'allowed: 50, 60'],
    [['--protocols', 'modbus,dnp'], 'did you mean dnp3?'],
    [['--mb-port', '70000'], 'from 0 to 65535'],
    [['--http-port', '8502'], 'The configuration is not valid'],
    [['more.yaml'], 'one file at most'],
  ] as const)
    it(`writes nothing for ${words.join(' ')}`, async () => {
      const message = await Promise.resolve()
        .then(() => refusal(words))
        .catch((error: unknown) => (error as Error).message);
      expect(message).to.contain(text);
      expect(readdirSync(folder)).to.deep.equal([]);
    });

  it('writes a scenario that is valid', async () => {
    const file = path('s.yaml');
    expect(await begin(['scenario', file])).to.deep.equal([`${file} is written. Run it: npm start -- run ${file}`]);
    const lines: string[] = [];
    const print = (line: string) => lines.push(line);
    checkScenarios(scenarioCommand([file]), { print, show: null, env: {}, onInterrupt: () => () => undefined });
    expect(lines).to.deep.equal([`${file}: A limit over REST is valid: 1 step, 0 rules`]);
  });
});
