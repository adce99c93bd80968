//! Names that say where something is: `Lund, Scania, Sweden` is one place, not three.
//!
//! Countries under their common English names, continents, the states of the USA, and
//! words for administrative areas. A name that is missing here costs an answer its hearing
//! by a model only if three such names stand side by side.

use super::text::key;

/// One name after the other, between commas.
const NAMES: &str = ",afghanistan,albania,algeria,andorra,angola,argentina,armenia,australia,\
austria,azerbaijan,bahamas,bahrain,bangladesh,barbados,belarus,belgium,belize,benin,bhutan,\
bolivia,bosnia and herzegovina,botswana,brazil,brunei,bulgaria,burkina faso,burundi,cambodia,\
cameroon,canada,cape verde,central african republic,chad,chile,china,colombia,comoros,congo,\
costa rica,croatia,cuba,cyprus,czechia,czech republic,denmark,djibouti,dominica,\
dominican republic,ecuador,egypt,el salvador,eritrea,estonia,eswatini,ethiopia,fiji,finland,\
france,gabon,gambia,georgia,germany,ghana,greece,greenland,grenada,guatemala,guinea,guyana,\
haiti,honduras,hong kong,hungary,iceland,india,indonesia,iran,iraq,ireland,israel,italy,\
ivory coast,jamaica,japan,jordan,kazakhstan,kenya,kiribati,kosovo,kuwait,kyrgyzstan,laos,\
latvia,lebanon,lesotho,liberia,libya,liechtenstein,lithuania,luxembourg,madagascar,malawi,\
malaysia,maldives,mali,malta,mauritania,mauritius,mexico,moldova,monaco,mongolia,montenegro,\
morocco,mozambique,myanmar,namibia,nauru,nepal,netherlands,new zealand,nicaragua,niger,\
nigeria,north korea,north macedonia,northern ireland,norway,oman,pakistan,palau,palestine,\
panama,papua new guinea,paraguay,peru,philippines,poland,portugal,puerto rico,qatar,romania,\
russia,rwanda,samoa,san marino,saudi arabia,scotland,senegal,serbia,seychelles,sierra leone,\
singapore,slovakia,slovenia,somalia,south africa,south korea,south sudan,spain,sri lanka,\
sudan,suriname,sweden,switzerland,syria,taiwan,tajikistan,tanzania,thailand,timor-leste,togo,\
tonga,trinidad and tobago,tunisia,turkey,türkiye,turkmenistan,tuvalu,uganda,ukraine,england,\
united arab emirates,uae,united kingdom,uk,u.k,great britain,united states,\
united states of america,usa,us,u.s.a,u.s,uruguay,uzbekistan,vanuatu,vatican city,venezuela,\
vietnam,wales,yemen,zambia,zimbabwe,\
africa,asia,europe,eu,north america,south america,central america,oceania,\
alabama,alaska,arizona,arkansas,california,colorado,connecticut,delaware,florida,hawaii,\
idaho,illinois,indiana,iowa,kansas,kentucky,louisiana,maine,maryland,massachusetts,michigan,\
minnesota,mississippi,missouri,montana,nebraska,nevada,new hampshire,new jersey,new mexico,\
new york,north carolina,north dakota,ohio,oklahoma,oregon,pennsylvania,rhode island,\
south carolina,south dakota,tennessee,texas,utah,vermont,virginia,washington,west virginia,\
wisconsin,wyoming,中国,美国,英国,法国,德国,日本,葡萄牙,西班牙,意大利,亚洲,欧洲,";

/// Words for areas that contain others.
const AREAS: [&str; 12] = [
    "area",
    "canton",
    "county",
    "department",
    "district",
    "island",
    "islands",
    "municipality",
    "prefecture",
    "province",
    "region",
    "state",
];

/// Returns whether a text names a country, a state, a continent or an administrative area,
/// or is a code of two or three capitals.
pub(super) fn is_place(text: &str) -> bool {
    let name = key(text);
    let name = name.strip_prefix("the ").unwrap_or(&name);
    let text = text.trim();
    let is_code = (2..=3).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_uppercase());
    is_code
        || NAMES.contains(&format!(",{name},"))
        || name.split_whitespace().any(|word| AREAS.contains(&word))
}
