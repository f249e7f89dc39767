import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';
import { gatewayConfig } from '../../src/app/cli/gateway.ts';
import { loadConfig } from '../../src/config/layers/load.ts';
import { settingKeys, variableOf } from '../../src/config/settings/settings.ts';
import type { Json } from '../support/http.ts';
import { skip } from '../support/skip.ts';
import { describeWith, installedPath } from './support/peers.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const text = (path: string) => readFileSync(join(root, path), 'utf8');

/** Runs a judge in the checkout. */
function judged(program: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: root, encoding: 'utf8', timeout: 60_000 });
  return { status, output: stdout + stderr };
}

describeWith(['hadolint'], 'on the Dockerfile', () => {
  it('has no remark', () => {
    const verdict = judged(installedPath('hadolint'), '--failure-threshold', 'info', 'Dockerfile');
    expect(verdict).to.deep.equal({ status: 0, output: '' });
  });
});

/** Compose files, with the number of the ports that they publish. */
const composeFiles = { 'compose.yaml': 5, 'compose.fleet.yaml': 4 } as const;

describeWith(['dclint'], 'on the Compose files', () => {
  for (const name of Object.keys(composeFiles))
    it(`has no remark on ${name}`, () => {
      const rules = ['--config', 'test/interop/dclint/rules.json', '--max-warnings', '0'];
      const { status, output } = judged(installedPath('dclint'), ...rules, name);
      expect(status, output).to.equal(0);
    });
});

const composed = (name: string): Json => parse(text(name), { merge: true });
const servicesOf = (file: Json): readonly (readonly [name: string, service: Json])[] => Object.entries(file.services);

for (const [path, publishedPorts] of Object.entries(composeFiles))
  describe(path, () => {
    const file = composed(path);
    const services = servicesOf(file);

    it('publishes each port on this machine alone', () => {
      const ports = services.flatMap(([, service]) => service.ports ?? []);
      expect(ports).to.have.length(publishedPorts);
      for (const port of ports) expect(port).to.match(/^127\.0\.0\.1:\d+/);
    });

    it('lets no container write to its image or gain rights', () => {
      for (const [name, service] of services) {
        expect([name, service.read_only, service.cap_drop, service.security_opt]).to.deep.equal([
          name,
          true,
          ['ALL'],
          ['no-new-privileges:true'],
        ]);
      }
    });

    it('builds what no registry has, and names all others by an exact tag', () => {
      for (const [name, { build, image, pull_policy: policy }] of services)
        if (build === undefined) expect(image, name).to.match(/^[\w/]+:v?\d+\.\d+\.\d+(-[\w-]+)?$/);
        else expect([image, policy, build.context], name).to.deep.equal(['derbench:local', 'build', '.']);
    });

    it('declares the networks and volumes that containers use, and no others', () => {
      const used = (member: string, pick: (entry: string) => string) =>
        new Set(services.flatMap(([, service]) => (service[member] ?? []) as string[]).map(pick));
      expect(Object.keys(file.networks)).to.have.members([...used('networks', (name) => name)]);
      const named = [...used('volumes', (entry) => entry.split(':')[0] ?? '')].filter((name) => !name.startsWith('.'));
      expect(Object.keys(file.volumes)).to.have.members(named);
    });
  });

describe('the Compose file of a fleet', () => {
  const file = composed('compose.fleet.yaml');
  const ownSettings = { DERBENCH_WEBSITE_IP: '0.0.0.0', DERBENCH_MB_HOST: '0.0.0.0' };
  const shards = servicesOf(file).filter(([, { environment: env }]) => env?.DERBENCH_SHARD !== undefined);
  const ports = ({ ports: entries }: Json) => (entries as string[]).map((each) => each.split(':').slice(1).join());

  it('gives settings that there are, and publishes the ports that each shard opens', () => {
    expect(shards).to.have.length(3);
    for (const [name, service] of shards) {
      const loaded = loadConfig([], { ...ownSettings, ...service.environment });
      if (loaded.kind !== 'run') throw new Error(name);
      const { firstDevice, devices, modbus } = loaded.config as Json;
      const first = Number(modbus.port) + Number(firstDevice);
      const range = `${first}-${first + Number(devices.length) - 1}`;
      expect(ports(service), name).to.deep.equal([`${range},${range}`]);
    }
  });

  it('gives each shard a name and a range of its own', () => {
    const envs = shards.map(([, { environment }]) => environment);
    expect(new Set(envs.map((env) => env.DERBENCH_SHARD)).size).to.equal(3);
    expect(envs.map((env) => env.DERBENCH_SHARD_ORDINAL)).to.deep.equal(['0', '1', '2']);
    for (const env of envs) expect(Number(env.DERBENCH_N)).to.be.at.most(Number(env.DERBENCH_FLEET_ROOM));
  });

  it('starts a gateway of the same fleet', () => {
    const { command, environment: env, ports: published } = file.services.gateway;
    expect(command).to.deep.equal(['gateway']);
    expect(gatewayConfig([], { ...ownSettings, ...env })?.fleet.servers).to.deep.equal(['nats://nats:4222']);
    expect(published).to.deep.equal(['127.0.0.1:8111:8111']);
    for (const [name, shard] of shards) expect(shard.environment.DERBENCH_FLEET, name).to.equal(env.DERBENCH_FLEET);
  });

  it('lets shards and gateways alone reach the server, which no port leads to', () => {
    const onBus = servicesOf(file).filter(([, { networks }]) => networks.includes('bus'));
    expect(onBus.map(([name]) => name)).to.have.members(['nats', 'gateway', ...shards.map(([name]) => name)]);
    expect([file.networks.bus.internal, file.services.nats.ports]).to.deep.equal([true, undefined]);
    for (const [name, { depends_on: needs }] of servicesOf(file))
      if (name !== 'nats') expect(needs.nats.condition, name).to.equal('service_healthy');
  });
});

describe('compose.yaml, by side', () => {
  const file = composed('compose.yaml');
  const services = servicesOf(file);

  it('lets a side reach the containers alone that it asks', () => {
    const networksOf = (name: string) => file.services[name].networks as readonly string[];
    const meet = (one: string, other: string) => networksOf(one).some((network) => networksOf(other).includes(network));
    const names = services.map(([name]) => name);
    const pairs = names.flatMap((one, i) => names.slice(i + 1).map((other) => [one, other] as const));
    expect(pairs.filter(([one, other]) => meet(one, other))).to.deep.equal([
      ['derbench', 'prometheus'],
      ['prometheus', 'grafana'],
      ['charger', 'csms'],
    ]);
  });

  it('mount files that there are', () => {
    const mounted = services.flatMap(([, service]) => (service.volumes ?? []) as string[]);
    const paths = mounted.filter((volume) => volume.startsWith('./')).map((volume) => volume.split(':')[0] ?? '');
    expect(paths).to.have.length(6);
    for (const path of paths) expect(existsSync(join(root, path)), path).to.equal(true);
  });

  it('run the central system on the packages of its tests', () => {
    const [, , install] = file.services.csms.command as readonly string[];
    expect(install).to.include(' --require-hashes ').and.to.include(' --requirement /requirements.txt ');
    expect(file.services.csms.volumes).to.include('./deploy/csms/requirements.txt:/requirements.txt:ro');
    const [packages, hashes] = [/^[\w-]+==\S+/gm, /--hash=sha256:[0-9a-f]{64}/g].map(
      (form) => text('deploy/csms/requirements.txt').match(form) ?? [],
    );
    const named = text('test/interop/requirements.txt')
      .split('\n')
      .filter((line) => /^(ocpp|websockets)==/.test(line));
    expect(named).to.have.length(2);
    expect(packages).to.include.members(named);
    expect(hashes?.length).to.be.at.least(packages?.length ?? 0);
  });
});

const kubernetesFolder = 'deploy/kubernetes';
const kubernetesFiles: readonly string[] = parse(text(`${kubernetesFolder}/kustomization.yaml`)).resources;

describeWith(['kubernetes_validate'], 'on the Kubernetes files', () => {
  const verdictOn = (...paths: readonly string[]) => judged(installedPath('kubernetes_validate'), '--strict', ...paths);

  it('has no remark', () => {
    const { status, output } = verdictOn(...kubernetesFiles.map((name) => `${kubernetesFolder}/${name}`));
    expect(status, output).to.equal(0);
    expect(output.match(/ passed for resource /g)).to.have.length(11);
  });

  it('refuses a misspelt member', () => {
    const folder = mkdtempSync(join(tmpdir(), 'derbench-'));
    const file = join(folder, 'gateway.yaml');
    writeFileSync(file, text(`${kubernetesFolder}/gateway.yaml`).replace('replicas:', 'replicaz:'));
    expect(verdictOn(file).status).to.equal(1);
    rmSync(folder, { recursive: true });
  });
});

describe('the Kubernetes files', () => {
  const objects: readonly Json[] = kubernetesFiles.flatMap((name) =>
    parseAllDocuments(text(`${kubernetesFolder}/${name}`)).map((document) => document.toJS()),
  );
  const {
    configMapGenerator: maps,
    secretGenerator: secrets,
    images,
  } = parse(text(`${kubernetesFolder}/kustomization.yaml`));
  const workloads = objects.filter(({ spec }) => spec?.template !== undefined);
  const containers: readonly Json[] = workloads.flatMap(({ spec }) => spec.template.spec.containers);
  const named = (kind: string) => objects.filter((each) => each.kind === kind);

  it('give settings that there are, with values that a start takes', () => {
    const common = maps.find(({ name }: Json) => name === 'derbench-fleet').literals as readonly string[];
    const env = Object.fromEntries(common.map((each) => each.split(/=(.*)/s).slice(0, 2)));
    for (const { image, env: entries, args = [] } of containers) {
      if (image !== 'derbench') continue;
      // kubernetes fills in the names of the pod
      const values = { DERBENCH_SHARD_ORDINAL: '2' };
      const given = entries.map(({ name, value }: Json) => [name, value?.replace('$(POD_NAME)', 'derbench-shard-2')]);
      const all = { ...env, ...Object.fromEntries(given), ...values };
      for (const name of Object.keys(all).filter((each) => each.startsWith('DERBENCH_')))
        expect(settingKeys.map(variableOf), name).to.include(name);
      if (args.length > 0) expect(args).to.deep.equal(['gateway']);
      else
        expect(loadConfig([], all, { isFile: () => true, readFile: () => 'secret' })).to.have.nested.property(
          'config.firstDevice',
          2000,
        );
    }
  });

  it('select pods that there are, by ports that these have', () => {
    const podsOf = (selector: Json) =>
      workloads.filter(({ spec }) =>
        Object.entries(selector).every(
          ([label, value]) => label.includes('pod-name') || spec.template.metadata.labels[label] === value,
        ),
      );
    for (const { metadata, spec } of named('Service')) {
      const [workload, ...others] = podsOf(spec.selector);
      expect([workload?.metadata.name, others.length], metadata.name).to.deep.equal([
        metadata.name.replace(/-0$/, ''),
        0,
      ]);
      const ports = workload.spec.template.spec.containers.flatMap((each: Json) => each.ports);
      for (const { targetPort } of spec.ports)
        if (typeof targetPort === 'string') expect(ports.map(({ name }: Json) => name)).to.include(targetPort);
    }
    for (const { spec } of named('PodDisruptionBudget')) expect(podsOf(spec.selector.matchLabels)).to.have.length(1);
    const [policy] = named('NetworkPolicy');
    const [{ from }] = policy.spec.ingress;
    const clients = podsOf(from[0].podSelector.matchLabels).map(({ metadata }) => metadata.name);
    expect(clients).to.deep.equal(['derbench-shard', 'derbench-gateway']);
    expect(podsOf(policy.spec.podSelector.matchLabels).map(({ metadata }) => metadata.name)).to.deep.equal(['nats']);
  });

  it('mount what is made, and let no container gain rights', () => {
    const sources = [...maps, ...secrets].map(({ name }: Json) => name);
    for (const { spec } of workloads) {
      const pod = spec.template.spec;
      for (const { configMap, secret } of pod.volumes)
        expect(sources).to.include((configMap ?? secret).name ?? secret.secretName);
      expect([pod.securityContext.runAsNonRoot, pod.automountServiceAccountToken]).to.deep.equal([true, false]);
    }
    for (const { name, securityContext: context, resources } of containers) {
      expect(
        [context.readOnlyRootFilesystem, context.allowPrivilegeEscalation, context.capabilities.drop],
        name,
      ).to.deep.equal([true, false, ['ALL']]);
      expect(resources.limits.memory, name).to.be.a('string');
    }
    const built = images.map(({ name }: Json) => name);
    for (const { image } of containers)
      if (!built.includes(image)) expect(image).to.match(/^[\w/]+:v?\d+\.\d+\.\d+(-[\w-]+)?$/);
  });
});

describe('systemd-analyze on the unit', () => {
  let folder: string;

  before(function () {
    if (spawnSync('systemd-analyze', ['--version']).status !== 0) skip(this, 'systemd-analyze is missing');
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'derbench-'));
    // the judge looks for the program
    const unit = text('deploy/derbench@.service').replace('/opt/derbench/bin/derbench', process.execPath);
    writeFileSync(join(folder, 'derbench@.service'), unit);
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  for (const dropIn of [null, ...readdirSync(join(root, 'deploy/drop-ins'))])
    it(`has no remark and finds it little exposed ${dropIn === null ? 'by itself' : `with ${dropIn}`}`, () => {
      const unit = join(folder, 'derbench@.service');
      if (dropIn !== null) {
        mkdirSync(`${unit}.d`);
        cpSync(join(root, 'deploy/drop-ins', dropIn), join(`${unit}.d`, dropIn));
      }
      expect(judged('systemd-analyze', 'verify', unit)).to.deep.equal({ status: 0, output: '' });
      // in tenths
      const { status, output } = judged('systemd-analyze', 'security', '--offline=true', '--threshold=20', unit);
      expect(status, output).to.equal(0);
    });

  it('has no remark on the unit of a shard either', () => {
    const unit = join(folder, 'derbench-shard@.service');
    writeFileSync(unit, text('deploy/derbench-shard@.service').replace('/opt/derbench/bin/derbench', process.execPath));
    expect(judged('systemd-analyze', 'verify', unit)).to.deep.equal({ status: 0, output: '' });
    const { status, output } = judged('systemd-analyze', 'security', '--offline=true', '--threshold=20', unit);
    expect(status, output).to.equal(0);
  });
});
