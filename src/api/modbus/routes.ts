import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { anyDeviceQuery } from '../faults/schemas.ts';
import { exampleModbus, modbusSchema } from './schemas.ts';
import { activeFaults } from '../faults/replies.ts';
import { eachLater, replyInPieces } from '../http/pieces.ts';
import { interfaceReply, modbusReporters } from './replies.ts';
import type { ModbusReply } from './replies.ts';

const getModbus = route({
  method: 'get',
  path: '/modbus',
  tag: 'Core',
  operationId: 'get_modbus',
  summary: 'Modbus: listeners, connected masters, counters and faults',
  query: anyDeviceQuery,
  reply: modbusSchema,
  examples: { reply: exampleModbus },
  handle(ctx, { query }) {
    const { device } = query;
    if (device !== undefined) ctx.plant.device(device);
    const reporters = modbusReporters(ctx);
    const { found, shown } = activeFaults(
      ctx.faults,
      (fault) => fault.protocol === 'modbus' && (device === undefined || fault.concerns(device)),
    );
    return replyInPieces<ModbusReply>({
      enabled: reporters.length > 0,
      interfaces: eachLater(reporters, (adapter) => interfaceReply(adapter, device)),
      faults: shown(found),
    });
  },
});

export const modbusRoutes: readonly Route[] = [getModbus];
