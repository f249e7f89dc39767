/** `derbench gateway`: one address for the shards of a fleet. */
import { parseFlags } from '../../config/layers/flags.ts';
import { loadConfig } from '../../config/layers/load.ts';
import type { AppConfig } from '../../config/settings/app-config.ts';
import { settingsOfGateway } from '../../config/settings/gateway.ts';
import { variableOf } from '../../config/settings/settings.ts';
import type { FleetSettings } from '../../contract/fleet-settings.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { createLogBook } from '../../core/log/log.ts';
import { buildId, packageVersion } from '../../core/package-files.ts';
import { systemClock } from '../../core/time/clock.ts';
import { callLater } from '../../core/time/timers.ts';
import { apiVersion } from '../../api/http/context.ts';
import { startGateway } from '../../fleet/gateway/app.ts';
import { fleetSiteRules } from '../fleet-site-rules.ts';
import { fleetBook } from '../scenarios/fleet.ts';
import { createStopHandler } from './ending.ts';
import { accessWords, invalidGateway, planOf } from './gateway-plan.ts';
import { LocalFleet } from './local-fleet.ts';

/** The process around the command. */
export interface GatewayIo {
  readonly out: (line: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Calls the listener at each signal that ends a process. */
  readonly onInterrupt: (listener: () => void) => void;
}

export const gatewayHelp = `Usage: derbench gateway [--fleet URL | --workers [W] -N n] [FLAGS]

Serves the shards of a fleet at one address: REST, and the telemetry stream. It has no devices of its own.

  --fleet URL               NATS server of the fleet; may be repeated for the servers of one cluster.
                            Without it the gateway starts a server of its own on this machine
  --workers [W]             starts W shards too (default: processor cores - 1); flags of devices and protocols are theirs,
                            and -N is the number of all devices
  --nats_server FILE        program of the own server (default: nats-server of the path)
  --fleet_prefix P          first token of the subjects (default derbench)
  --fleet_wait_s S          time limit of the first connection, s (default 30)
  --fleet_pace hold|free    hold (default): all shards wait for a slow one
  --fleet_plain yes         permits nats:// to another machine
  --fleet_creds FILE, --fleet_nkey FILE, --fleet_user U with --fleet_password_file FILE
                            one way to log in
  --fleet_ca FILE, --fleet_cert FILE, --fleet_key FILE
                            certificates for tls://
  -wp, --website_port N     port of HTTP (default 8111)
  --website_ip A            address of HTTP (default 127.0.0.1)
  --allowed_host H, --cors_origin O, --http_max_connections N, --ws_max_clients N, --log_level L, --log_format F
                            as those of the simulator

Each flag has its variable, such as DERBENCH_FLEET. Flags of devices and protocols go to the shards.

Exit code: 0 ended by SIGINT or SIGTERM, 2 a flag is not valid or nats-server is missing,
3 no NATS server in time, refused there, or the port is in use.`;

/** Variables of settings that a gateway has: those of shards may stand in the same environment. */
function environmentOf(env: GatewayIo['env']): GatewayIo['env'] {
  return Object.fromEntries([...settingsOfGateway].map((key) => [variableOf(key), env[variableOf(key)]]));
}

/** @returns null: help is wanted @throws SimError CONFIG_INVALID */
export function gatewayConfig(
  words: readonly string[],
  env: GatewayIo['env'],
): (AppConfig & { readonly fleet: FleetSettings }) | null {
  const flags = parseFlags(words);
  if (flags.help) return null;
  const foreign = [...flags.values].filter(([key]) => !settingsOfGateway.has(key));
  if (foreign.length > 0)
    throw invalidGateway(
      foreign.map(([, { spelling }]) => ({
        name: spelling,
        detail: 'is no flag of a gateway, which has no devices and no protocols of its own: give it to the shards',
      })),
    );
  const loaded = loadConfig(words, environmentOf(env));
  if (loaded.kind !== 'run') throw invalidGateway([{ name: '--version', detail: 'is asked of derbench itself' }]);
  const { fleet } = loaded.config;
  if (fleet === null)
    throw invalidGateway([
      { name: '--fleet', detail: 'is missing: the NATS server of the fleet, such as nats://127.0.0.1:4222' },
    ]);
  return { ...loaded.config, fleet };
}

/**
 * Runs a gateway until a signal ends it.
 * @returns the exit code
 * @throws SimError CONFIG_INVALID, LISTEN_FAILED
 */
export async function gatewayCommand(words: readonly string[], io: GatewayIo): Promise<number> {
  const { out, env } = io;
  if (parseFlags(words.filter((word) => word === '-h' || word === '--help')).help) {
    out(gatewayHelp);
    return exitCodes.ok;
  }
  const plan = planOf(words, env);
  if (plan.local === null) return serveFleet(configOf(plan.words, env), io, null);
  // a mistake is told before anything starts
  const checked = configOf([...plan.words, '--fleet=nats://127.0.0.1:1'], env);
  const logBook = createLogBook({ ...checked.log, clock: systemClock });
  const local = await LocalFleet.start(plan.local, { log: logBook.logger('Lab'), env });
  try {
    return await serveFleet(configOf([...plan.words, ...accessWords(local.access)], env), io, local);
  } catch (error) {
    await local.end();
    throw error;
  }
}

function configOf(words: readonly string[], env: GatewayIo['env']) {
  const config = gatewayConfig(words, env);
  if (config === null) throw new Error('help is answered before');
  return config;
}

async function serveFleet(
  config: ReturnType<typeof configOf>,
  { out, onInterrupt }: GatewayIo,
  local: LocalFleet | null,
): Promise<number> {
  const logBook = createLogBook({ ...config.log, clock: systemClock });
  const build = { version: packageVersion(), buildId: buildId() };
  // set before the first request can come
  let requestStop: () => void = () => undefined;
  const gateway = await startGateway({
    settings: config.fleet,
    web: config.web,
    info: { ...build, apiVersion, startedAtMs: systemClock.nowMs() },
    siteRules: fleetSiteRules,
    logBook,
    clock: systemClock,
    later: callLater,
    scenarios: (ground) => fleetBook(ground, { config, wall: systemClock, later: callLater, ...build }),
    requestStop: () => {
      requestStop();
    },
  });
  const lines = [...gateway.lines, ...((await local?.startWorkers()) ?? [])];
  out(['derbench gateway is ready', ...lines.map((line) => `  ${line}`)].join('\n'));
  return new Promise((resolve, reject) => {
    const end = createStopHandler({
      async stop() {
        await gateway.stop();
        await local?.end();
        logBook.flush();
        return exitCodes.ok;
      },
      exit: resolve,
      fail: reject,
      later: callLater,
    });
    requestStop = end;
    onInterrupt(end);
  });
}
