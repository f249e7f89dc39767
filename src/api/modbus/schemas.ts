import { memo } from '../../core/memo.ts';
import { commNames, commStates } from '../../core/adapter.ts';
import { modbusTransports } from '../../contract/modbus-report.ts';
import { z } from '../description/zod.ts';
import { exampleTime, isoTime } from '../common/schemas.ts';
import { exampleFaults } from '../faults/examples.ts';
import { faultSchemas } from '../faults/schemas.ts';

const clientSchema = memo(() =>
  z
    .strictObject({
      peer: z.string().openapi({ description: '`address:port`.' }),
      role: z.string().nullable().openapi({
        description: 'Role that the certificate of a TLS session gives; null: none that counts, or no TLS.',
      }),
      connected_at: isoTime.openapi({ description: 'Wall time at which it connected.' }),
      idle_s: z.number().openapi({ description: 'Wall seconds since something came from it.' }),
      requests: z.int().openapi({ description: 'Requests that came from it.' }),
      unsent_bytes: z.int().openapi({ description: 'Octets of answers that it has not taken.' }),
      held_bytes: z.int().openapi({ description: 'Octets held for it, both ways.' }),
      paused: z.boolean().openapi({ description: 'Its requests are not read, because it does not take the answers.' }),
    })
    .openapi('ModbusClient'),
);

const count = (description: string) => z.int().min(0).openapi({ description });

const listenerSchema = memo(() =>
  z
    .strictObject({
      transport: z.enum(modbusTransports).openapi({ description: 'Framing, and whether it is encrypted.' }),
      endpoint: z.string().nullable().openapi({ description: 'Address or serial port; null: it does not listen now.' }),
      device_index: z
        .int()
        .min(0)
        .nullable()
        .openapi({ description: 'The device that has it for itself; null: shared, or that of the meter.' }),
      meter: z
        .boolean()
        .optional()
        .openapi({ description: 'True where it serves the meter of the connection point alone.' }),
      clients: z.array(clientSchema()).openapi({ description: 'Connected masters; a serial line has none.' }),
    })
    .openapi('ModbusListener'),
);

const interfaceSchema = memo(() =>
  z
    .strictObject({
      comm: z.enum(commNames).openapi({ description: 'As in `comm_status`.' }),
      state: z.enum(commStates),
      foreign_unit: z
        .enum(['silent', 'gateway'])
        .openapi({ description: 'Answer to a unit id that is not served: none, or exception 11.' }),
      limits: z
        .strictObject({
          max_connections: z.int().openapi({ description: 'Connections of one listener.' }),
          idle_timeout_s: z
            .number()
            .openapi({ description: 'Wall seconds without traffic after which a connection is closed; 0: never.' }),
          frame_timeout_s: z
            .number()
            .openapi({ description: 'Wall seconds within which a request that has begun must end.' }),
        })
        .openapi('ModbusLimits')
        .openapi({ description: 'Limits in force.' }),
      counters: z
        .strictObject({
          requests: count('Requests that came in whole.'),
          answers: count('Answers, exceptions among them.'),
          exceptions: count('Answers that were exceptions.'),
          foreign: count('Requests for a unit id that is not served; on a line also answers of other devices.'),
          unreadable: count('Pieces on a line that made no frame: noise, a wrong checksum, a frame cut short.'),
          accepted: count('Connections that were served.'),
          refused: count('Connections refused, or given up for newer ones, at the limit.'),
          violations: count('Connections closed for an illegal header.'),
          timeouts: count('Connections closed by a time limit.'),
          handshake_failures: count('Connections that did not become a TLS session.'),
          internal_errors: count('Failures of the simulator, answered with exception 4.'),
        })
        .openapi('ModbusCounters')
        .openapi({ description: 'Counts since the start.' }),
      listeners: z.array(listenerSchema()).openapi({ description: 'Addresses and lines.' }),
    })
    .openapi('ModbusInterface'),
);

export const modbusSchema = memo(() =>
  z
    .strictObject({
      enabled: z.boolean().openapi({ description: 'Whether any interface for Modbus masters is switched on.' }),
      interfaces: z.array(interfaceSchema()).openapi({ description: 'Enabled interfaces.' }),
      faults: z.array(faultSchemas.fault).openapi({ description: 'Faults of Modbus in force.' }),
    })
    .openapi('Modbus'),
);

export const exampleModbus = {
  enabled: true,
  interfaces: [
    {
      comm: 'modbus_tcp' as const,
      state: 'listening' as const,
      foreign_unit: 'silent' as const,
      limits: { max_connections: 1024, idle_timeout_s: 3600, frame_timeout_s: 30 },
      counters: {
        requests: 64,
        answers: 64,
        exceptions: 1,
        foreign: 0,
        unreadable: 0,
        accepted: 1,
        refused: 0,
        violations: 0,
        timeouts: 0,
        handshake_failures: 0,
        internal_errors: 0,
      },
      listeners: [
        {
          transport: 'tcp' as const,
          endpoint: 'tcp://127.0.0.1:8502',
          device_index: 0,
          clients: [
            {
              peer: '127.0.0.1:50124',
              role: null,
              connected_at: exampleTime,
              idle_s: 0.4,
              requests: 64,
              unsent_bytes: 0,
              held_bytes: 0,
              paused: false,
            },
          ],
        },
      ],
    },
  ],
  faults: exampleFaults.faults,
};
