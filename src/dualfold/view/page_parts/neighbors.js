// A point's neighbours in the data and on the map: kept in both, false on the map, missing from it.

// The k nearest rows on the map, by (distance, row), as Python orders them.
function nearestOnMap(map, row, k) {
  const [rows, distances, axes] = [[], [], map.strip ? map.axes.slice(0, 1) : map.axes];
  for (let other = 0; other < n; other++) {
    if (other === row) continue;
    let distance = 0;
    for (let at = 0; at < axes.length; at++) distance += (axes[at][other] - axes[at][row]) ** 2;
    if (rows.length === k && distance >= distances[k - 1]) continue;
    let place = rows.length;
    while (place > 0 && distances[place - 1] > distance) place--;
    rows.splice(place, 0, other);
    distances.splice(place, 0, distance);
    if (rows.length > k) { rows.pop(); distances.pop(); }
  }
  return rows;
}

let lastAsked = [null, null, null]; // map, row and what was found: several parts of the page ask
function neighborsOf(map, row) {
  if (lastAsked[0] !== map || lastAsked[1] !== row) lastAsked = [map, row, foundNeighbors(map, row)];
  return lastAsked[2];
}

function foundNeighbors(map, row) {
  const known = map.neighbors || (maps.find((other) => other.neighbors) || {}).neighbors;
  if (!known) return { known: false, kept: [], missing: [], false: nearestOnMap(map, row, Math.min(10, n - 1)) };
  const before = Array.from(known.rows.subarray(row * known.k, (row + 1) * known.k));
  const after = nearestOnMap(map, row, known.k);
  const inData = new Set(before);
  const onMap = new Set(after);
  // As near in the data as the last of the list: the map may show these instead of that one.
  const tied = after.filter((other) => !inData.has(other) && map.tied.has(row) && map.tied.get(row).has(other));
  const kept = [...before.filter((other) => onMap.has(other)), ...tied];
  return {
    known: true,
    kept,
    false: after.filter((other) => !inData.has(other) && !tied.includes(other)),
    missing: before.filter((other) => !onMap.has(other)).slice(0, known.k - kept.length),
  };
}
