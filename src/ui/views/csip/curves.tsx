import { get } from '../../api/call';
import { Panel } from '../../kit/panel';
import { Table } from '../../kit/table';
import { dash } from '../../look/format';
import { useLive } from '../../store/live';

/** `92, 44; 98, 0` */
function pointsText(points: readonly { readonly x: number; readonly y: number }[]): string {
  return points.map(({ x, y }) => `${x}, ${y}`).join('; ');
}

/** DERCurves of all programs, as received. */
export function Curves({ device }: { readonly device: number }) {
  const { data } = useLive(get('csip/curves', { query: { device } }), 5000);
  return (
    <Panel title="Curves" flush wide>
      <Table
        name="Curves"
        rows={data?.curves ?? []}
        keyOf={({ href, mrid, curve_type: type }) => `${href} ${mrid} ${type}`}
        empty="The server has shown no DERCurve yet: give a program curves at the head-end, then poll."
        columns={[
          { title: 'Curve', cell: (each) => <code>{each.href ?? each.mrid ?? dash}</code>, value: (each) => each.href },
          { title: 'Description', cell: (each) => each.description ?? dash, value: (each) => each.description },
          {
            title: 'Type',
            numeric: true,
            cell: (each) => each.curve_type ?? dash,
            value: (each) => each.curve_type,
          },
          {
            title: 'Points (x, y)',
            cell: ({ points }) => pointsText(points),
            value: ({ points }) => pointsText(points),
          },
          {
            title: 'Reference of y',
            numeric: true,
            cell: (each) => each.y_ref_type ?? dash,
            value: (each) => each.y_ref_type,
          },
          {
            title: 'Open loop, s',
            numeric: true,
            cell: (each) => each.open_loop_s ?? dash,
            value: (each) => each.open_loop_s,
          },
          {
            title: 'Ramp PT1, s',
            numeric: true,
            cell: (each) => each.ramp_pt1_s ?? dash,
            value: (each) => each.ramp_pt1_s,
          },
          { title: 'VRef, %', numeric: true, cell: (each) => each.v_ref_pct ?? dash, value: (each) => each.v_ref_pct },
        ]}
      />
    </Panel>
  );
}
