import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { planOf } from '../../../src/app/cli/gateway-plan.ts';
import { SimError } from '../../../src/core/errors.ts';

const access = { url: 'nats://127.0.0.1:4300', user: 'u', passwordFile: '/p' };

function issueOf(words: readonly string[], env = {}): string {
  try {
    planOf(words, env);
  } catch (error) {
    if (error instanceof SimError && error.code === 'CONFIG_INVALID')
      return error.issues.map(({ name, detail }) => `${name} ${detail}`).join('\n');
    throw error;
  }
  return '';
}

describe('app/cli: the workers of a gateway', () => {
  it('get the flags of devices, and their parts of devices and ports', () => {
    const { words, local } = planOf(
      ['--workers', '2', '-N', '5', '-wp', '9000', '-p', '9100', '-d', 'Batt', '--fleet_prefix', 'lab'],
      {},
    );
    expect(words).to.deep.equal(['-wp=9000', '--fleet_prefix=lab']);
    expect(local?.workers?.commands(access).map((command) => command.words.join(' '))).to.deep.equal([
      '-d=Batt --fleet_prefix=lab --fleet=nats://127.0.0.1:4300 --fleet_user=u --fleet_password_file=/p --shard=w0 ' +
        '--first_device=0 -N=3 --port_base=shard --website_ip=127.0.0.1 --website_port=0 --mb_port=9100',
      '-d=Batt --fleet_prefix=lab --fleet=nats://127.0.0.1:4300 --fleet_user=u --fleet_password_file=/p --shard=w1 ' +
        '--first_device=3 -N=2 --port_base=shard --website_ip=127.0.0.1 --website_port=0 --mb_port=9103',
    ]);
  });

  it('do not inherit variables that are the gateway’s', () => {
    const { local } = planOf(['--workers=1'], { DERBENCH_N: '3', DERBENCH_WEBSITE_PORT: '1', DERBENCH_TICK: '2' });
    const { env = {} } = local?.workers ?? {};
    expect([env['DERBENCH_N'], env['DERBENCH_WEBSITE_PORT'], env['DERBENCH_TICK']]).to.deep.equal([
      undefined,
      undefined,
      '2',
    ]);
  });

  it('are as many as cores less one by default', () => {
    expect(planOf(['-N', '300', '--workers'], {}).local?.workers?.commands(access)).to.have.length.above(0);
  });

  it('are refused ports above the highest one, with the ways out', () => {
    const issue = issueOf(['--workers', '2', '-N', '300', '-p', '65300']);
    expect(issue).to.match(/^--mb_port given 65300, so that the last device would be on port 65599/);
    for (const way of ['--mb_enable no', '--mb_host 127.0.0.11', 'several machines']) expect(issue).to.contain(way);
    expect(issueOf(['--workers', '2', '-N', '300', '-p', '65300', '--mb_enable', 'no'])).to.equal('');
  });

  it('are refused what a shard would refuse, what is for one process, and a fleet that is there', () => {
    const two = ['--workers', '2', '-N', '4'];
    expect(issueOf([...two, '--tick', '99'])).to.match(/^--tick/);
    expect(issueOf([...two, '--shard', 'a'])).to.match(/^--shard is what the gateway gives/);
    expect(issueOf([...two, '--scenario', 'a.yaml'])).to.match(/^--scenario is for one process/);
    expect(issueOf([...two, '--fleet', 'nats://a:1'])).to.match(/^--workers given together with --fleet/);
    expect(issueOf(['--workers', '2'])).to.match(/^-N is missing/);
    expect(issueOf(['--workers', '0', '-N', '4'])).to.match(/^--workers given "0"/);
  });
});

describe('app/cli: the workers of a gateway, by variables and a configuration file', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'derbench-plan-'));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });
  const withFile = (text: string) => {
    const file = join(folder, 'lab.yaml');
    writeFileSync(file, text);
    return ['--workers', '2', '--config', file];
  };

  it('are refused what they are refused by flags', () => {
    const two = ['--workers', '2', '-N', '4'];
    expect(issueOf(two, { DERBENCH_SHARD: 'a' })).to.match(/^DERBENCH_SHARD is what the gateway gives/);
    expect(issueOf(two, { DERBENCH_RTU_ENABLE: 'yes' })).to.match(/^DERBENCH_RTU_ENABLE is for one process/);
    expect(issueOf(withFile('N: 4\nport_base: fleet\n'))).to.match(/^port_base of the configuration file is what/);
    expect(issueOf(withFile('N: 4\nmeter_port: 9502\n'))).to.match(/^meter_port of the configuration file is for/);
  });

  it('get devices and indexes from a file', () => {
    const { local } = planOf(withFile('N: 4\nfirst_device: 100\n'), {});
    const ranges = local?.workers
      ?.commands(access)
      .map(({ words }) => words.filter((word) => /^-(-first|N)/.test(word)));
    expect(ranges).to.deep.equal([
      ['--first_device=100', '-N=2'],
      ['--first_device=102', '-N=2'],
    ]);
    expect(issueOf(withFile('first_device: 100\n'))).to.match(/^-N is missing/);
  });
});

describe('app/cli: the server of a gateway', () => {
  it('is started where no fleet is given', () => {
    expect(planOf(['-wp', '0', '--nats-server', '/n'], {})).to.deep.equal({
      words: ['-wp', '0'],
      local: { natsServer: '/n', workers: null },
    });
    expect(planOf(['-wp', '0'], { DERBENCH_FLEET: 'nats://a:1' }).local).to.equal(null);
  });
});
