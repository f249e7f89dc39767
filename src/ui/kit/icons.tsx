/** Hand-made icons of 20 by 20, drawn in the colour of the text. An icon always stands beside a word. */

const shapes = {
  overview: 'M3 3h6v6H3zM11 3h6v4h-6zM11 9h6v8h-6zM3 11h6v6H3z',
  devices: 'M3 4.6h3v3H3zM3 12.4h3v3H3zM9 6h8M9 14h8',
  inputs: 'M4 3v5M4 12v5M10 3v9M10 16v1M16 3v2M16 9v8M2.4 10h3.2M8.4 14h3.2M14.4 7h3.2',
  events: 'M2 10.6h3.4L7.6 4l4 12 2.4-5.4h4',
  charts: 'M3 3v14h14M6 13l3.4-4 3 2.4L17 6',
  protocols: [
    'M6.6 10a2.2 2.2 0 1 1-4.4 0 2.2 2.2 0 0 1 4.4 0',
    'M17.8 4.8a2.2 2.2 0 1 1-4.4 0 2.2 2.2 0 0 1 4.4 0',
    'M17.8 15.2a2.2 2.2 0 1 1-4.4 0 2.2 2.2 0 0 1 4.4 0M6.4 9.1l7.2-3.4M6.4 10.9l7.2 3.4',
  ],
  compare: 'M3 4h5v12H3zM12 4h5v12h-5zM3 8h5M12 8h5M3 12h5M12 12h5',
  fleet: 'M3 3h5v5H3zM12 3h5v5h-5zM3 12h5v5H3zM12 12h5v5h-5z',
  scenarios: 'M6 3.6 16 10 6 16.4z',
  solar: [
    'M13.6 10a3.6 3.6 0 1 1-7.2 0 3.6 3.6 0 0 1 7.2 0M10 1.8v2M10 16.2v2M1.8 10h2M16.2 10h2',
    'M4.2 4.2l1.4 1.4M14.4 14.4l1.4 1.4M4.2 15.8l1.4-1.4M14.4 5.6l1.4-1.4',
  ],
  wind: [
    'M10 10v8.4M7.6 18.4h4.8M11.2 8.4a1.2 1.2 0 1 1-2.4 0 1.2 1.2 0 0 1 2.4 0',
    'M10 7.2C9.4 4.6 9.7 2.8 10.4 1.6M11 9c2.6.7 4 1.9 4.6 3.2M9 9c-2 1.8-3.7 2.2-5.1 2',
  ],
  storage: [
    'M3.6 5.6h10.8A1.6 1.6 0 0 1 16 7.2v5.6a1.6 1.6 0 0 1-1.6 1.6H3.6A1.6 1.6 0 0 1 2 12.8V7.2a1.6 1.6 0 0 1 1.6-1.6',
    'M18 8.6v2.8M5 8.6v2.8M8 8.6v2.8M11 8.6v2.8',
  ],
  hybrid: [
    'M3.4 9.6h8.2a1.4 1.4 0 0 1 1.4 1.4v4.2a1.4 1.4 0 0 1-1.4 1.4H3.4A1.4 1.4 0 0 1 2 15.2V11a1.4 1.4 0 0 1 1.4-1.4',
    'M15 12v2.2M5 12.2v2M8 12.2v2M16.6 5.2a2.2 2.2 0 1 1-4.4 0 2.2 2.2 0 0 1 4.4 0M14.4 1v.9',
    'M18.6 5.2h-.9M17.4 2.2l-.6.6M11.4 2.2l.6.6',
  ],
  cell: 'M3 4.6h14v10.8H3zM3 10h3.6M13.4 10H17M6.6 7v6M9 7v6M11.4 7v6M13.4 7v6',
  charger: [
    'M3.4 17.6V4A1.6 1.6 0 0 1 5 2.4h5A1.6 1.6 0 0 1 11.6 4v13.6M2 17.6h11M8 5.6 6 9.6h3l-2 4',
    'M11.6 10.5h1.9a1.2 1.2 0 0 1 1.2 1.2v2.6a1.5 1.5 0 0 0 3 0V8l-2.5-2.5',
  ],
  load: 'M2.6 9.4 10 2.8l7.4 6.6M4.6 8v9.2h10.8V8M8.2 17.2v-5h3.6v5',
  grid: ['M6 18 9.2 2.2h1.6L14 18M4 6.6h12M3.2 10.2h13.6M7.6 10.2 12.8 14M12.4 10.2 7.2 14M4 6.6v1.6', 'M16 6.6v1.6'],
  more: 'M4 10h.1M10 10h.1M16 10h.1',
  run: 'M6 3.6 16 10 6 16.4z',
  pause: 'M7 4v12M13 4v12',
  copy: 'M7 6.4h9v11H7zM4.4 13.6V2.6h8.4',
  search: 'M13.4 8.6a4.8 4.8 0 1 1-9.6 0 4.8 4.8 0 0 1 9.6 0M12 12l5 5',
} as const satisfies Record<string, string | readonly string[]>;

export type IconName = keyof typeof shapes;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d={[shapes[name]].flat().join('')} />
    </svg>
  );
}
