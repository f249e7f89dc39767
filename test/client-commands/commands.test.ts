import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { expect } from 'chai';
import { parseArguments } from '../../src/app/cli/arguments.ts';
import { commandOf } from '../../src/app/cli/table/commands.ts';
import { UsageError } from '../../src/client-commands/call.ts';
import { runClient } from '../../src/client-commands/run.ts';
import { exitCodes } from '../../src/core/exit-codes.ts';
import { closed, occupied } from '../support/ports.ts';
import { programCommand } from '../support/process.ts';
import { startApp } from '../support/running-app.ts';
import type { RunningApp } from '../support/running-app.ts';
import { skip } from '../support/skip.ts';

let running: RunningApp;

/** Runs a command line of a client without colours, and gives its exit code and both outputs. */
async function command(line: string, url = `http://127.0.0.1:${running.port}`) {
  const [out, error]: [string[], string[]] = [[], []];
  const [name = '', ...words] = line.split(' ');
  const io = { out: (text: string) => out.push(text), error: (text: string) => error.push(text) };
  const code = await runClient(name, parseArguments(commandOf(name)!, [...words, '--no-color', '--url', url]), io);
  return { code, out: out.join('\n'), error: error.join('\n') };
}

/** A server that gives one answer, with its address. */
async function answering(status: number, body: string) {
  const other = createServer((_, answer) => answer.writeHead(status).end(body));
  await new Promise<void>((resolve) => {
    other.listen(0, '127.0.0.1', resolve);
  });
  return { other, url: `http://127.0.0.1:${(other.address() as { port: number }).port}` };
}

const documentOf = async (line: string) => JSON.parse((await command(`${line} --json`)).out) as Record<string, unknown>;

describe('commands of a running simulator', () => {
  before(async () => {
    running = await startApp(['PV-3Phase', 'Batt-3Phase', 'EVSE']);
  });
  after(() => running.app.stop());

  /** Lines that the output has, as patterns: numbers and times are masked. */
  const rows: readonly (readonly [line: string, ...patterns: readonly RegExp[]])[] = [
    ['devices', /^#  name .* P kW .* SoC %/, /\n1 +.*Batt-3Phase +running .* 127\.0\.0\.1:\d+ unit 1/],
    ['get 701.InvSt 702.WMax', /^point +value +written by/, /701\.InvSt +RUNNING \(3\)/, /702\.WMax +10000 W/],
    ['get 704.* --device 1', /704\.WMaxLimPct +100 % +default/, /704\.WSet /],
    [
      'set 704.WMaxLimPct=50 704.WMaxLimPctEna=ENABLED',
      /704\.WMaxLimPct: 100 % -> 50 %/,
      /DISABLED \(0\) -> ENABLED \(1\)/,
    ],
    ['limit 2.5kW --for 60', /WMaxLimPct: 50 % -> 25 %/, /WMaxLimPctRvrtTms: 0 s -> 60 s/],
    ['time step 2', /^2026-06-21T12:00:03\.000Z, tick 2, paused$/],
    ['why', /^\d\.\d\d kW of [\d.]+ kW: limit of active power, written by REST/],
    ['time step 1min', /tick 42, paused/],
    ['get 704.WMaxLimPctEna', /DISABLED \(0\) +reversion/],
    ['limit 40%', /WMaxLimPct: \d+ % -> 40 %/, /RvrtTms: 60 s -> 0 s/],
    ['limit 40 % --for 60 s', /WMaxLimPct: 40 %, as before/, /RvrtTms: 0 s -> 60 s/],
    ['limit 5000 W', /WMaxLimPct: 40 % -> 50 %/],
    ['limit 0.002 MW --for 1h', /WMaxLimPct: 50 % -> 20 %/, /RvrtTms: 0 s -> 3600 s/],
    ['limit off', /^704\.WMaxLimPctEna: ENABLED \(1\) -> DISABLED \(0\)$/],
    ['limit 50% --device 2', /Device 2 is a charging station: this limits what it delivers/],
    ['limit off --device 2', /DISABLED/],
    ['get metrics.power_kw 702.WMax', /702\.WMax +10000 W/, /\nmetrics\.power_kw {2}[\d.]+$/],
    ['limit --export 30kW', /^export limit: 30 kW$/],
    ['limit --export off', /^export limit: off$/],
    ['grid voltage=0.95 frequency=59.9 --for 5', /voltage_a_pu +0\.95/, /frequency_hz +59\.9/],
    ['grid sag --param residual_pu=0.4', /voltage_a_pu +0\.4/, /event +sag/],
    ['grid normal', /voltage_a_pu +1\n/, /frequency_hz +60\n/, /outage +false/],
    ['grid', /voltage_a_pu +1\n/],
    ['weather irradiance=300', /irradiance_w_m2 +300/],
    ['weather irradiance=none temperature=20', /ambient_temperature_c +20/],
    ['weather irradiance=123.4567891', /irradiance_w_m2 +123\.457$/m],
    ['weather irradiance=none', /irradiance_w_m2/],
    ['plug 2 --soc 40', /^SIM-CP-1, connector 1: preparing, 0 kW, limit [\d.]+ kW$/],
    ['time step 30', /paused/],
    ['pause SIM-CP-1:1', /connector 1: (charging|suspended_evse)/],
    ['time step', /paused/],
    ['charge', /SIM-CP-1, connector 1: (suspended_evse|charging)/],
    ['unplug 2', /connector 1: available/],
    ['why --all', /^device 0: .*\ndevice 1: .*\ndevice 2: .*\ndevice 2, connector 1: /],
    ['fault scale points=701.W factor=0.5', /^fault \d+: modbus scale is injected$/],
    ['fault list', /modbus +scale +0 .*"factor":0\.5/],
    ['fault clear', /^1 of 1 faults cleared$/],
    ['fault list', /^no fault is injected$/],
    ['findings', /^no rule is broken\n\n/],
    ['wait 701.W > 1', /^701\.W is [\d.]+$/],
    ['wait 701.ConnSt = CONNECTED', /^701\.ConnSt is CONNECTED$/],
    ['watch 701.W -n 1', /^2026-06-21T12:\d\d:\d\d\.\d{3}Z  701\.W [\d.]+ W$/],
    ['time x60', /running at x60$/],
    ['watch 702.WMax -n 2', /10000 W\n2026.* 10000 W$/],
    ['time pause', /paused$/],
    ['health', /^ok: tick \d+, [\d.]+ s ago$/],
  ];
  it('do and show what they say', async () => {
    for (const [line, ...patterns] of rows) {
      const { code, out, error } = await command(line);
      expect([code, error.replace(/^derbench .*ago\)$/, '')], line).to.deep.equal([0, '']);
      for (const pattern of patterns) expect(out, line).to.match(pattern);
    }
  });

  it('print the answer of the interface as one document with --json, and nothing with --quiet', async () => {
    expect(await documentOf('get 701.W')).to.include({ id: 701, name: 'DERMeasureAC' });
    expect(await documentOf('get 701.W 702.WMax')).to.have.length(2);
    expect(await documentOf('time')).to.include({ mode: 'paused' });
    expect(await documentOf('watch 702.WMax -n 1')).to.deep.include({ points: { '702.WMax': 10_000 } });
    expect((await command('devices --quiet')).out).to.equal('');
  });

  it('that change it say which simulator it is, those that read do not', async () => {
    const line = new RegExp(
      `^derbench \\d+\\.\\d+\\.\\d+ at 127\\.0\\.0\\.1:${running.port} \\(3 devices, started \\d+ s ago\\)$`,
    );
    expect((await command('limit off')).error).to.match(line);
    expect((await command('fault clear')).error).to.match(line);
    for (const read of ['get 701.W', 'time', 'grid', 'fault list'])
      expect((await command(read)).error, read).to.equal('');
  });

  it('change nothing in another instance than the expected one', async () => {
    const { code, error } = await command('set 704.WMaxLimPct=77 --expect-instance other');
    expect(code).to.equal(exitCodes.refused);
    expect(error).to.match(/is instance [0-9a-f-]{23}, not other\. Nothing was changed\.$/);
    const [, instance = ''] = / instance (\S+),/.exec(error) ?? [];
    expect((await command('get 704.WMaxLimPct')).out).not.to.contain('77');
    expect((await command(`set 704.WMaxLimPct=77 --expect-instance ${instance}`)).code).to.equal(0);
  });

  it('end with 2 for wrong words, before they ask', async () => {
    const lines = [
      'get',
      'get W',
      'set',
      'set 704.WMaxLimPct',
      'set 704.WMaxLimPct 50',
      'limit',
      'limit much',
      'time x',
      'why 0',
      'wait 701.W',
      'fault',
    ];
    for (const line of [
      ...lines,
      'devices --device -1',
      'grid sag voltage=1',
      'grid sag --for 5',
      'weather --for 5',
      'fault delay',
      'fault scale points=701.W faktor=2',
    ]) {
      const failure = await command(line).then(
        () => null,
        (error: unknown) => error,
      );
      expect(failure, line).to.be.instanceOf(UsageError);
    }
  });

  it('say what may stand in the place of a wrong word', async () => {
    const textOf = async (line: string) => {
      try {
        return (await command(line)).error;
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(await textOf('fault scale points=701.W faktor=2')).to.match(
      /^scale has no parameter faktor\. Its parameters: .*points.*$/,
    );
    expect(await textOf('limit half')).to.contain('Give percent of 702.WMax, a power such as 5kW, or off.');
    expect(await textOf('limit 50kW')).to.contain('a limit of 50 kW is above 702.WMax, which is 10 kW');
    expect(await textOf('set 704.WMaxLimPct 50')).to.contain('Write 704.WMaxLimPct=50.');
    expect(await textOf('get metrics.nothing')).to.contain('metrics.nothing is no value of the snapshot');
  });

  it('end with 4 when a wait ends without the value', async () => {
    const { code, error } = await command('wait 701.W < -5 --timeout 3');
    expect(code).to.equal(exitCodes.failed);
    expect(error).to.match(
      /\nderbench: 701\.W did not become < -5 within 3 s of simulated time .* last value was \d+\.$/,
    );
  });

  it('end with 6 when the simulator refuses, with its problem as the document', async () => {
    for (const line of ['get 701.Wx', 'set 704.WMaxLimPct=500', 'get 701.W --device 99', 'plug 77', 'grid nothing']) {
      const { code, error } = await command(line);
      expect(code, line).to.equal(exitCodes.refused);
      expect(error, line).to.contain('derbench: ');
    }
    const { out } = await command('set 704.WMaxLimPct=500 --json');
    expect(JSON.parse(out)).to.deep.include({ code: 'validation', status: 422 });
  });

  it('end with 5 where nothing answers or another server does, and health with 1', async () => {
    const { server, port } = await occupied();
    await closed(server);
    for (const line of ['get 701.W', 'health', 'limit off']) {
      const { code, error } = await command(line, `http://127.0.0.1:${port}`);
      expect([code, error.startsWith('derbench: no simulator answers. ')], line).to.deep.equal([
        line === 'health' ? exitCodes.internal : exitCodes.unreachable,
        true,
      ]);
    }
    const { other, url } = await answering(404, '<html>nothing</html>');
    for (const line of ['get 701.W', 'health', 'limit off']) {
      const { code, error } = await command(line, url);
      expect([code, error], line).to.deep.equal([
        line === 'health' ? exitCodes.internal : exitCodes.unreachable,
        `derbench: no simulator answers at ${url}. Another server does, with the HTTP status 404. ` +
          'Give another address with --url or DERBENCH_URL.',
      ]);
    }
    other.close();
  });

  for (const [status, http] of [
    ['degraded', 200],
    ['stalled', 503],
    ['stopping', 503],
  ] as const)
    it(`health ends with 1 for a simulator that is ${status}, in silence with --quiet`, async () => {
      const { other, url } = await answering(http, `{"status":"${status}","tick":7,"tick_age_s":9}`);
      const out = `${status}: tick 7, 9 s ago`;
      const answers = [await command('health', url), await command('health --quiet', url)];
      other.close();
      const code = exitCodes.internal;
      expect(answers).to.deep.equal([
        { code, out, error: '' },
        { code, out: '', error: '' },
      ]);
    });

  it('health --quiet says nothing of a simulator that is well', async () => {
    expect(await command('health --quiet')).to.deep.equal({ code: exitCodes.ok, out: '', error: '' });
  });
});

describe('colours of a command', function () {
  this.timeout(20_000);
  const words = [...programCommand, 'get', '701.W', '--url', 'http://127.0.0.1:1'];
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(NO|FORCE)_COLOR$/.test(name)),
  );
  /** What it writes to a pipe, or to a terminal. */
  const written = (isTerminal: boolean, env: NodeJS.ProcessEnv = {}) => {
    const [program = '', ...args] = isTerminal ? ['script', '-qec', words.join(' '), '/dev/null'] : words;
    const options = { encoding: 'utf8', env: { ...inherited, TERM: 'xterm', ...env }, input: '' } as const;
    const { stdout, stderr } = spawnSync(program, args, options);
    return stdout + stderr;
  };
  const red = '\u001b[31mderbench:\u001b[39m no simulator answers.';

  it('go to a terminal, unless NO_COLOR is set', function () {
    if (spawnSync('script', ['--version']).status !== 0) skip(this, 'script (util-linux) is missing');
    expect(written(true)).to.include(red);
    expect(written(true, { NO_COLOR: '1' }))
      .to.include('derbench: no simulator answers.')
      .and.not.include('\u001b');
  });

  it('go to no pipe', () => {
    expect(written(false)).to.match(/^derbench: no simulator answers\./);
  });
});
