import { DcCurve } from './dc-curve';
import type { PageProps } from './page';

/** The modules of a PV inverter: one curve for each DC port. */
export function PvPage({ device }: PageProps) {
  return (
    <>
      {Array.from({ length: Math.max(1, device.dc_port_count) }, (_unused, port) => (
        <DcCurve key={port} device={device.device_index} port={port} />
      ))}
    </>
  );
}
