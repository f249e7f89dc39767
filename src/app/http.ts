/** REST and the telemetry stream of a configuration, which share one HTTP server. */
import { createHistory, createRemoteHistory } from '../api/history/history.ts';
import type { History } from '../api/history/history.ts';
import { apiVersion, defaultApiLimits } from '../api/http/context.ts';
import type { ApiContext } from '../api/http/context.ts';
import { createApi } from '../api/http/server.ts';
import type { Api } from '../api/http/server.ts';
import { readEvseProfiles } from '../config/profile/profiles.ts';
import type { AppConfig } from '../config/settings/app-config.ts';
import { readFaultProfiles } from '../config/profile/fault-profiles.ts';
import { startLine } from '../core/adapter.ts';
import type { Exposure } from '../core/adapter.ts';
import { memo } from '../core/lazy.ts';
import { hostAndPort } from '../core/net/listen.ts';
import type { Adapter } from '../core/adapter.ts';
import { createTelemetry } from '../ws/telemetry.ts';
import { TimelineStream } from '../ws/timeline-stream.ts';

/** The parts of the context of REST that do not follow from the configuration. */
export type HttpSetup = Omit<
  ApiContext,
  'config' | 'history' | 'remoteHistory' | 'evseProfiles' | 'faultProfiles' | 'startSettingsOf' | 'info'
> & { readonly info: Omit<ApiContext['info'], 'apiVersion'> };

export interface Http {
  readonly api: Api;
  readonly history: History;
  readonly telemetry: Adapter;
  readonly timelineStream: TimelineStream;
  readonly exposures: readonly Exposure[];
  /** @param address of the listener */
  startLines(address: { readonly host: string; readonly port: number }): readonly string[];
}

/**
 * @param inForce the configuration with the live settings as they are now
 * @param checkReplies true: each reply is checked against its schema
 */
export function createHttp(
  { web, historySamples, startSettings }: AppConfig,
  inForce: () => AppConfig,
  setup: HttpSetup,
  checkReplies: boolean,
): Http {
  const { plant, clock, logBook, sunspecClient } = setup;
  const guard = { host: web.host, allowedHosts: web.allowedHosts, corsOrigins: web.corsOrigins };
  const history = createHistory(plant, { samplesPerDevice: historySamples });
  const api = createApi(
    {
      ...setup,
      info: { ...setup.info, apiVersion },
      history,
      remoteHistory: createRemoteHistory(sunspecClient, historySamples),
      startSettingsOf: (kind) => startSettings.filter(({ kinds }) => kinds.includes(kind)),
      evseProfiles: memo(readEvseProfiles),
      faultProfiles: memo(readFaultProfiles),
      config: {
        ...guard,
        csipWebsite: inForce().csip?.website ?? null,
        port: web.port,
        limits: {
          ...defaultApiLimits,
          get maxConnections() {
            const { maxConnections, maxStreamClients } = inForce().web;
            return maxConnections + maxStreamClients;
          },
        },
      },
    },
    { checkReplies },
  );
  const telemetry = createTelemetry({
    source: plant,
    columns: plant,
    server: api.server,
    guard,
    clock,
    logger: logBook.logger('WS'),
    stopping: () => api.stopping,
    options: { maxClients: () => inForce().web.maxStreamClients },
  });
  const timelineStream = new TimelineStream({
    timeline: setup.timeline,
    dateMs: (at) => plant.dateMs(at),
    server: api.server,
    guard,
    clock,
    otherClients: () => telemetry.clients,
    maxClients: () => inForce().web.maxStreamClients,
    stopping: () => api.stopping,
  });
  const page = inForce().csip?.website ?? null;
  const exposures = [{ what: 'the HTTP interface', host: web.host }, ...(page === null ? [] : [pageExposure(page)])];
  return {
    api,
    history,
    telemetry,
    timelineStream,
    exposures,
    startLines: (address) => [...httpLines(address), ...csipLines(api)],
  };
}

function httpLines({ host, port }: { readonly host: string; readonly port: number }): readonly string[] {
  const web = hostAndPort(host, port);
  return [
    startLine('HTTP', `http://${web}/          (API browser http://${web}/docs)`),
    startLine('Telemetry', `ws://${web}/api/sim/ws/telemetry`),
  ];
}

export const pageExposure = ({ host }: { readonly host: string }): Exposure => ({
  what: 'the page of the CSIP client',
  host,
});

export function csipLines({ csipWebsite }: Api): readonly string[] {
  return csipWebsite === null
    ? []
    : [startLine('CSIP page', `http://${hostAndPort(csipWebsite.host, csipWebsite.port)}/`)];
}
