import { execFile } from 'node:child_process';
import { expect } from 'chai';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { describeWith } from './support/peers.ts';
import { addressOf } from './support/registers.ts';

interface Ended {
  readonly code: number;
  readonly output: string;
}

function run(program: string, args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(program, args, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, output: stdout + stderr });
    });
  });
}

/** The values in lines such as `[40300]: 	7500`. */
function valuesIn(output: string): Record<string, string> {
  return Object.fromEntries(
    [...output.matchAll(/^\[(\d+)\]:\s+(\S+)/gm)].map(([, address, value]) => [address, value]),
  );
}

describeWith(['mbpoll'], 'polls with libmodbus', () => {
  let simulator: RunningSimulator;
  let limit: number;

  before(async () => {
    simulator = await startSimulator();
    limit = await addressOf(simulator.httpPort, 704, 'WMaxLimPct');
  });
  after(async () => {
    expect(await simulator.stop()).to.equal(0);
  });

  /** One poll with PDU addressing: -0. */
  const poll = (reference: number, options: readonly string[] = [], values: readonly number[] = []) =>
    run('mbpoll', [
      '-m',
      'tcp',
      '-a',
      '1',
      '-0',
      '-1',
      '-q',
      '-p',
      String(simulator.modbusPort),
      '-r',
      String(reference),
      ...options,
      '127.0.0.1',
      ...values.map(String),
    ]);

  it('reads holding and input registers', async () => {
    for (const type of ['3:hex', '4:hex']) {
      const { code, output } = await poll(40_000, ['-t', type, '-c', '2']);
      expect(code, output).to.equal(0);
      expect(valuesIn(output)).to.deep.equal({ 40000: '0x5375', 40001: '0x6E53' });
    }
  });

  it('reads 125 registers at once', async () => {
    const { code, output } = await poll(40_000, ['-c', '125']);
    expect(code, output).to.equal(0);
    expect(Object.keys(valuesIn(output))).to.have.length(125);
  });

  it('writes one register, and several', async () => {
    expect((await poll(limit, [], [7500])).code).to.equal(0);
    expect(valuesIn((await poll(limit)).output)).to.deep.equal({ [limit]: '7500' });
    expect((await poll(limit - 1, [], [0, 8000])).code).to.equal(0);
    expect(valuesIn((await poll(limit - 1, ['-c', '2'])).output)).to.deep.equal({ [limit - 1]: '0', [limit]: '8000' });
  });

  it('ends with an error that names the exception', async () => {
    const refusals = [
      [await poll(10), /Illegal data address/],
      [await poll(40_000, [], [5]), /Illegal data address/],
      [await poll(limit, [], [10_001]), /Illegal data value/],
      [await poll(0, ['-t', '0']), /Illegal function/],
    ] as const;
    for (const [{ code, output }, words] of refusals) {
      expect(output).to.match(words);
      expect(code).to.equal(1);
    }
  });
});
