import { route } from '../route.ts';
import type { Route } from '../route.ts';
import { anyDeviceQuery } from '../schemas/faults.ts';
import { exampleModbus, modbusSchema } from '../schemas/modbus.ts';
import { faultsReply } from '../views-faults.ts';
import { interfaceReply, modbusReporters } from '../views-modbus.ts';

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
    const concerned = (index: number | null) => device === undefined || index === null || index === device;
    return {
      enabled: reporters.length > 0,
      interfaces: reporters.map((adapter) => interfaceReply(adapter, device)),
      faults: faultsReply(ctx.faults, ({ protocol, facts }) => protocol === 'modbus' && concerned(facts.deviceIndex))
        .faults,
    };
  },
});

export const modbusRoutes: readonly Route[] = [getModbus];
