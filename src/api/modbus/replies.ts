import type { z } from 'zod';
import type { Adapter } from '../../core/adapter.ts';
import type { ModbusClient, ModbusListener, ModbusReporter } from '../../contract/modbus-report.ts';
import type { RouteContext } from '../http/context.ts';
import { eachLater } from '../http/pieces.ts';
import type { InPieces } from '../http/pieces.ts';
import type { modbusSchema } from './schemas.ts';

export type ModbusReply = z.output<ReturnType<typeof modbusSchema>>;
type InterfaceReply = InPieces<ModbusReply['interfaces'][number]>;

function isReporter(adapter: Adapter): adapter is Adapter & ModbusReporter {
  return 'report' in adapter;
}

/** The adapters that listen for Modbus masters. */
export function modbusReporters({ adapters }: Pick<RouteContext, 'adapters'>): (Adapter & ModbusReporter)[] {
  return adapters.filter(isReporter);
}

function clientReply({ peer, role, connectedAtMs, idleMs, requests, unsentBytes, heldBytes, paused }: ModbusClient) {
  return {
    peer,
    role: role ?? null,
    connected_at: new Date(connectedAtMs).toISOString(),
    idle_s: Math.round(idleMs) / 1000,
    requests,
    unsent_bytes: unsentBytes,
    held_bytes: heldBytes,
    paused,
  };
}

function listenerReply({ transport, endpoint, deviceIndex, isMeter, clients }: ModbusListener) {
  const meter = isMeter && { meter: true };
  return { transport, endpoint, device_index: deviceIndex, ...meter, clients: eachLater(clients, clientReply) };
}

/** @param device only the listeners that serve it */
export function interfaceReply(adapter: Adapter & ModbusReporter, device: number | undefined): InterfaceReply {
  const { foreignUnit, limits, counters, listeners } = adapter.report();
  const shown = listeners.filter(
    ({ deviceIndex }) => device === undefined || deviceIndex === null || deviceIndex === device,
  );
  return {
    comm: adapter.comm,
    state: adapter.status().state,
    foreign_unit: foreignUnit,
    limits: {
      max_connections: limits.maxConnections,
      idle_timeout_s: limits.idleTimeoutMs / 1000,
      frame_timeout_s: limits.frameTimeoutMs / 1000,
    },
    counters: {
      requests: counters.requests,
      answers: counters.answers,
      exceptions: counters.exceptions,
      foreign: counters.foreign,
      unreadable: counters.unreadable,
      accepted: counters.accepted,
      refused: counters.refused,
      violations: counters.violations,
      timeouts: counters.timeouts,
      handshake_failures: counters.handshakeFailures,
      internal_errors: counters.internalErrors,
    },
    listeners: eachLater(shown, listenerReply),
  };
}
